/** Large media of a session: in files instead of records, and back again for a request. */
import { createHash } from "node:crypto";
import { bytesOf, isMedia, mapContent, storedIn, type StoredPart } from "../core/media.ts";
import { text, type ContentPart, type Message } from "../core/message.ts";
import { isThenable, messageOf } from "../effects/effect.ts";
import type { Logger, Store } from "../ports.ts";

/** Where media goes, and who must not write before it is there. */
type Place = {
  readonly id: string;
  readonly store: Store;
  readonly logger: Logger;
  readonly limits: { maxInlineMediaBytes: number };
  readonly journal: { awaitFile(written: Promise<unknown>): void };
};

export class Media {
  readonly #place: Place;
  /** Messages as requests see them: the same object each time, as long as the original lives. */
  readonly #whole = new WeakMap<Message, Message>();

  constructor(place: Place) {
    this.#place = place;
  }

  /**
   * Parts as a record holds them: media above the limit goes to a file named by its content, and the part names the file.
   * Nothing is recorded before the file is there; one that cannot be written stays in the record.
   */
  keep(parts: ContentPart[]): ContentPart[] {
    const limit = this.#place.limits.maxInlineMediaBytes;
    const isLarge = (p: ContentPart) => isMedia(p) && p.data !== undefined && bytesOf(p.data) > limit;
    return parts.some(isLarge) ? parts.map((p) => (isLarge(p) ? this.#store(p) : p)) : parts;
  }

  #store(part: ContentPart): ContentPart {
    if (!isMedia(part) || part.data === undefined) return part;
    const { data, ...rest } = part;
    const bytes = Buffer.from(data, "base64");
    const subtype = /\/(?:x-)?([a-z0-9]+)/i.exec(part.mediaType)?.[1] ?? "bin";
    const file = `${createHash("sha256").update(bytes).digest("hex")}.${subtype}`;
    try {
      const written = this.#place.store.putFile(this.#place.id, file, bytes);
      if (isThenable(written)) this.#place.journal.awaitFile(Promise.resolve(written));
    } catch (error) {
      this.#place.logger.warn(`${part.type} stays in the journal of ${this.#place.id}: ${messageOf(error)}`);
      return part;
    }
    return { ...rest, stored: { file, bytes: bytes.byteLength } };
  }

  /** The bytes of a part. @throws StoreError `NotFound` when its file is gone */
  async bytes(part: ContentPart): Promise<Uint8Array> {
    if (!isMedia(part)) return Buffer.from(part.text);
    if (part.data !== undefined) return Buffer.from(part.data, "base64");
    if (part.stored) return this.#place.store.getFile(this.#place.id, part.stored.file);
    throw new TypeError(`The ${part.type} is at ${part.url}: fetch it there.`);
  }

  /** Messages as a model port gets them. What cannot be read back is named instead of shown. */
  async whole(messages: readonly Message[]): Promise<readonly Message[]> {
    return Promise.all(
      messages.map((message) => {
        const known = this.#whole.get(message);
        return known ?? (storedIn(message).length ? this.#load(message) : message);
      }),
    );
  }

  async #load(message: Message): Promise<Message> {
    const loaded = new Map<ContentPart, ContentPart>();
    for (const part of storedIn(message)) loaded.set(part, await this.#inline(part));
    const whole = mapContent(message, (part) => loaded.get(part) ?? part);
    // What could not be read may be there the next time.
    if ([...loaded.values()].every(isMedia)) this.#whole.set(message, whole);
    return whole;
  }

  async #inline({ stored, ...part }: StoredPart): Promise<ContentPart> {
    try {
      const bytes = await this.#place.store.getFile(this.#place.id, stored.file);
      return { ...part, data: Buffer.from(bytes).toString("base64") };
    } catch (error) {
      this.#place.logger.warn(`${part.type} ${stored.file} of ${this.#place.id} cannot be read: ${messageOf(error)}`);
      return text(`[${part.type} ${stored.file} cannot be read]`);
    }
  }
}

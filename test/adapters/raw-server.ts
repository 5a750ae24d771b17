/** A server that answers with exactly the bytes it is told to, and remembers what it was sent. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** One answer. `cut` ends the connection in the middle of the body, `stall` leaves it open for ever. */
export type RawAnswer = {
  status?: number;
  headers?: Record<string, string>;
  body: string;
  end?: "whole" | "cut" | "stall";
};

export class RawServer {
  readonly #server = createServer((req, res) => void this.#take(req, res));
  readonly #answers: RawAnswer[] = [];
  /** Bodies of requests, as they came. */
  readonly bodies: string[] = [];
  readonly #open = new Set<ServerResponse>();

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async start(): Promise<void> {
    await once(this.#server.listen(0, "127.0.0.1"), "listening");
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** The next requests get these, one each. */
  will(...answers: RawAnswer[]): void {
    this.#answers.push(...answers);
  }

  clear(): void {
    this.#answers.length = this.bodies.length = 0;
  }

  /** Settles when no request is being answered any more: finished, or its connection gone. */
  async quiet(): Promise<void> {
    await Promise.all([...this.#open].map((res) => once(res, "close")));
  }

  async #take(req: IncomingMessage, res: ServerResponse): Promise<void> {
    this.#open.add(res);
    res.once("close", () => this.#open.delete(res));
    let body = "";
    for await (const piece of req.setEncoding("utf8")) body += piece;
    this.bodies.push(body);
    const answer = this.#answers.shift() ?? { status: 500, body: "no answer was left" };
    res.writeHead(answer.status ?? 200, { "content-type": "text/event-stream", ...answer.headers });
    if (answer.end === undefined || answer.end === "whole") res.end(answer.body);
    // The bytes are on their way before the connection goes.
    else res.write(answer.body, () => answer.end === "cut" && res.socket?.resetAndDestroy());
  }
}

/**
 * The part of the AI SDK's language model specification that is used here. It is spelled out, and not imported, so that
 * neither our code nor our declarations need any of its packages.
 */
import type { Json } from "../../core/message.ts";

/** Versions of the specification that are spoken. */
export const VERSIONS = ["v2", "v3", "v4"] as const;
export type SpecVersion = (typeof VERSIONS)[number];

/** A language model of the Vercel AI SDK, such as `openai("gpt-5.2")` or `anthropic("claude-opus-4-5")` gives. */
export type AiSdkModel = {
  /** `v2` (AI SDK 5), `v3` (6) or `v4` (7). */
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  doStream(options: any): PromiseLike<AiSdkStream>;
};

/** What `doStream` answers with. */
export type AiSdkStream = {
  stream: { getReader(): PartReader };
  response?: { headers?: { [name: string]: string | undefined } | undefined } | undefined;
};

export type PartReader = {
  read(): Promise<{ done: boolean; value?: any }>;
  cancel(reason?: unknown): Promise<void>;
};

/** Options or metadata, by provider: what comes as the one goes back as the other. */
export type ProviderOptions = { [provider: string]: { [name: string]: Json } };

/** One message of a prompt. */
export type WireMessage = { role: "system" | "user" | "assistant" | "tool"; content: unknown };

/** One part of a prompt or of a stream. */
export type WirePart = { type: string; [field: string]: unknown };

// The shapes that the page reads. Those of the API are made from its document (schema.ts).
import type * as S from "./schema";

export type { Block, Costs, Delegate, DelegateEntry, DelegateType, Field, Found, Mentions, Participant, Probe, Room, RoomDetail, RoomMessage, Settings, Spending as Sums, Title, Working } from "./schema";

/** Facts are what the room knows of a message. */
export interface Facts { exchange: string; round: number; to?: string[]; failed?: boolean; late?: boolean; incognito?: boolean; incomplete?: boolean; error_kind?: string; task?: string }
/** ThreadMessage is one that was read, or one that was just sent and of which no more is known. */
export type ThreadMessage = Pick<S.ThreadMessage, "id" | "type" | "content" | "name" | "usage_metadata"> & {
  additional_kwargs?: { metadata?: { room?: Facts; time?: string; summary?: { replaced: number }; files?: { n: number; name: string; type: string; bytes: number }[] } };
  response_metadata?: { cost_usd?: number };
};
export type Thread = Pick<S.Thread, "thread_id" | "created_at" | "updated_at" | "status" | "metadata"> & { values?: { messages: ThreadMessage[] } };
export type Run = Pick<S.Run, "run_id" | "status" | "created_at"> & { kwargs: { input?: { messages?: unknown } } };
export type ThreadState = Pick<S.ThreadState, "checkpoint" | "parent_checkpoint"> & { values: { messages?: ThreadMessage[] } };

export interface Progress { kind: "text" | "thought" | "tool" | "plan" | "status"; text?: string; state?: string }

/** Report is what a run tells beside its words. */
export interface Report { type: string; member?: string; round?: number; text?: string; progress?: Progress; question?: Question; exchange?: string;
  outcome?: { duration_ns: number } }

/** Question is what a member asks leave for. */
export interface Question { id: string; member: string; title?: string; kind?: string; choices: string[] }

export interface Session { needed: boolean; name: string; admin: boolean }
// What the page shows, whatever it came from.

/** Spent is what an answer took, in seconds and since its question, and what it cost; what is missing is not known. */
export interface Spent { took?: number; after?: number; input?: number; output?: number; cost?: number }

export interface Entry {
  id: string; author: string; kind: "person" | "agent" | "note" | "tool"; text: string; images: string[];
  mine?: boolean; to?: string[]; round?: number; exchange?: string; failed?: boolean; late?: boolean; incognito?: boolean; incomplete?: boolean; error_kind?: string; task?: string;
  /** past says that a summary stands for it now. */
  past?: boolean; summary?: boolean;
  files?: { name: string; bytes?: number; href?: string }[];
  at?: string; cost?: number; spent?: Spent; queued?: boolean;
}
export interface Live {
  key: string; author: string; text: string; thought: string; status: string; plan: string[];
  tools: { title: string; state: string }[]; since: number; round?: number; wake?: string; queued?: boolean; id?: string;
  /** stops says that it can be stopped alone. */
  stops?: boolean;
}

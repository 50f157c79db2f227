// The shapes of the public API that the page reads.

export interface Room {
  id: string; name: string; topic: string | null; status: "open" | "closed"; stop_reason: string | null;
  last_message_at: string | null; created_at: string; expires_at: string | null;
  max_messages: number; max_cost_usd: number | null; message_count: number; cost_usd: number; cost_known: boolean;
  budget_used: number; head_seq: number; agents: string[]; role: string | null; unread: number; unread_mentions: number; summary: string | null;
}
export interface Participant { kind: "agent" | "user"; name: string; role: string; joined_at: string; left_at: string | null }
export interface RoomMessage {
  seq: number; id: string; kind: "message" | "system"; sender: { kind: string; name: string } | null; content: string;
  mentions: string[] | null; created_at: string; wake: string | null; cost_usd: number | null; late: boolean; failed: boolean;
}
export interface Working { wake: string; agent: string; state: string; since: string }
export interface RoomDetail extends Room { participants: Participant[]; messages: RoomMessage[]; has_more: boolean; working: Working[] }

export interface Block { type: string; text?: string; image_url?: string | { url: string }; mime_type?: string; data?: string }
export interface ThreadMessage {
  id: string; type: "human" | "ai" | "tool" | "system"; content: string | Block[]; name?: string;
  additional_kwargs?: { metadata?: { room?: Facts; time?: string; summary?: { replaced: number } } };
  usage_metadata?: { input_tokens: number; output_tokens: number }; response_metadata?: { cost_usd?: number };
}
export interface Facts { exchange: string; round: number; to?: string[]; failed?: boolean; late?: boolean; incognito?: boolean; incomplete?: boolean; error_kind?: string; task?: string }
export interface Thread {
  thread_id: string; created_at: string; updated_at: string; status: string;
  metadata: Record<string, unknown>; values?: { messages: ThreadMessage[] };
}
export interface Run { run_id: string; status: string; created_at: string; kwargs: { input?: { messages?: unknown } } }
export interface ThreadState {
  values: { messages?: ThreadMessage[] }; checkpoint: { checkpoint_id: string } | null; parent_checkpoint: { checkpoint_id: string } | null;
}

export interface Progress { kind: "text" | "thought" | "tool" | "plan" | "status"; text?: string; state?: string }

/** Report is what a run tells beside its words. */
export interface Report { type: string; member?: string; round?: number; text?: string; progress?: Progress; question?: Question; exchange?: string;
  outcome?: { duration_ns: number } }

/** Question is what a member asks leave for. */
export interface Question { id: string; member: string; title?: string; kind?: string; choices: string[] }

export interface Session { needed: boolean; name: string; admin: boolean }
export interface Delegate { name: string; type: string; description?: string }
export interface Mentions {
  kind: "lead" | "addressed" | "unknown" | "empty"; to: string[]; group?: "all" | "others"; token?: string; near?: string; offers: Delegate[];
}

/** Found is a conversation in which a text was said, with the newest message that holds it. */
export interface Found { thread_id: string; kind: "thread" | "room"; message_id: string; author: string; time: string; excerpt: string }

/** Sums are what answers have cost; unknown counts those that the sums lack. */
export interface Sums { answers: number; input_tokens: number; output_tokens: number; cost_usd: number; unknown_tokens?: number; unknown_cost?: number }
export interface Costs { members: Record<string, Sums>; total: Sums }

// What the page shows, whatever it came from.

/** Spent is what an answer took, in seconds and since its question, and what it cost; what is missing is not known. */
export interface Spent { took?: number; after?: number; input?: number; output?: number; cost?: number }

export interface Entry {
  id: string; author: string; kind: "person" | "agent" | "note" | "tool"; text: string; images: string[];
  mine?: boolean; to?: string[]; round?: number; exchange?: string; failed?: boolean; late?: boolean; incognito?: boolean; incomplete?: boolean; error_kind?: string; task?: string;
  /** past says that a summary stands for it now. */
  past?: boolean; summary?: boolean;
  at?: string; cost?: number; spent?: Spent; queued?: boolean;
}
export interface Live {
  key: string; author: string; text: string; thought: string; status: string; plan: string[];
  tools: { title: string; state: string }[]; since: number; round?: number; wake?: string; queued?: boolean; id?: string;
  /** stops says that it can be stopped alone. */
  stops?: boolean;
}

export interface Field {
  key: string; kind?: string; required?: boolean; default?: number | string; least?: number; ceiling?: number; choices?: string[]; help: string;
}
export interface DelegateType { type: string; fields: Field[] }
export interface DelegateEntry { name: string; type: string; values: Record<string, string>; hidden: string[]; version: string }
export interface Settings {
  schema: Field[]; in_force: Record<string, unknown>; written: Record<string, string>; version: string; path: string;
  faults: { line: number; key: string; message: string; severity: string }[];
}

/**
 * Lets clients of the 2025 protocol cancel a running call over HTTP. They do so with a separate request,
 * `notifications/cancelled`, that contains the id of the call. Two clients may use equal ids. So the response to
 * `initialize` contains a session id that cannot be guessed. The client sends it with all later requests. Both ids
 * together identify the call. The server keeps only the running calls, and no list of sessions. So it accepts any
 * session id, even after a restart.
 */

import { randomUUID } from "node:crypto";
import { JoinedSignal, holdRequest } from "../base/joined-signal.ts";

export const SESSION = "mcp-session-id";

/** The fields of a message that are used here. */
interface Message {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: { readonly requestId?: unknown };
}

/** A request that is being answered. */
export interface Exchange {
  /** Aborts when the client has closed the connection, or has cancelled the call. */
  readonly signal: AbortSignal;
  /** Returns the response to send to the client. Forgets the call when that response has been sent. */
  answer(response: Response): Response;
}

/** The maximum length of a session id. Requests with a longer one are treated as requests without a session. */
const MOST_SESSION = 100;

export class Sessions {
  /** The running calls, by session id and call id. Each controller aborts its call. */
  readonly #calls = new Map<string, AbortController>();

  begin(request: Request, body: unknown): Exchange {
    const session = request.headers.get(SESSION);
    const message: Message = typeof body === "object" && body !== null ? body : {};
    const left = holdRequest(request);
    if (message.method === "initialize") return { signal: left, answer: withSession };
    const isKnown = session !== null && session.length <= MOST_SESSION;
    if (isKnown && message.method === "notifications/cancelled")
      this.#calls.get(keyOf(session, message.params?.requestId))?.abort();
    const isCall = isKnown && typeof message.method === "string" && message.id !== undefined;
    if (!isCall) return { signal: left, answer: (response) => response };
    return this.#register(keyOf(session, message.id), left);
  }

  #register(key: string, left: AbortSignal): Exchange {
    const ended = new AbortController();
    this.#calls.set(key, ended);
    const forget = (): void => {
      if (this.#calls.get(key) === ended) this.#calls.delete(key);
    };
    left.addEventListener("abort", forget, { once: true });
    return {
      signal: new JoinedSignal([left, ended.signal]).signal, // `left` ends with the request, so nothing is disposed of
      answer: (response) => whenRead(response, forget),
    };
  }

  /** The number of running calls that clients can cancel. */
  get size(): number {
    return this.#calls.size;
  }
}

/** Makes a key that distinguishes the ids `1` and `"1"`. */
const keyOf = (session: string, id: unknown): string => `${session} ${JSON.stringify(id)}`;

function withSession(response: Response): Response {
  if (!response.ok) return response;
  const headers = new Headers(response.headers);
  headers.set(SESSION, randomUUID());
  const { status, statusText } = response;
  return new Response(response.body, { status, statusText, headers });
}

/** Returns the same response with a body that calls `done` when it has been read, has failed, or is cancelled. */
function whenRead(response: Response, done: () => void): Response {
  if (response.body === null) {
    done();
    return response;
  }
  const reader = response.body.getReader();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done: isOver, value } = await reader.read();
        if (value) controller.enqueue(value);
        if (!isOver) return;
        done();
        controller.close();
      } catch (error) {
        done();
        controller.error(error);
      }
    },
    async cancel(reason) {
      done();
      await reader.cancel(reason);
    },
  });
  return new Response(body, response);
}

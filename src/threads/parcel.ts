/**
 * Holds something for other threads outside this thread's heap, in a port. In the heap it would count as
 * used until a full collection, which may never come in an idle thread.
 */

import { MessageChannel, receiveMessageOnPort } from "node:worker_threads";

export class Parcel<T> {
  readonly #channel = new MessageChannel();

  constructor(content: T) {
    this.#channel.port1.unref();
    this.#channel.port2.unref();
    this.#channel.port1.postMessage(content);
  }

  /** Returns the content, for a message. REQUIRES: it was not dropped. */
  copy(): T {
    const content = receiveMessageOnPort(this.#channel.port2)!.message as T;
    this.#channel.port1.postMessage(content);
    return content;
  }

  /** Drops the content. Its shared memory is freed when no thread uses it. */
  drop(): void {
    this.#channel.port1.close();
    this.#channel.port2.close();
  }
}

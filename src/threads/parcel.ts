/**
 * Holds a value for other threads in a message port, outside this thread's heap. On the heap, its memory would count
 * as used until a full collection, which may never come in an idle thread.
 */

import { MessageChannel, receiveMessageOnPort } from "node:worker_threads";

export class Parcel<T> {
  readonly #channel = new MessageChannel();

  constructor(content: T) {
    this.#channel.port1.unref();
    this.#channel.port2.unref();
    this.#channel.port1.postMessage(content);
  }

  /** Returns the content, to be sent in a message. REQUIRES: drop() was not called. */
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

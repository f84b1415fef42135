/**
 * Something for other threads that this one hands on and does not keep: it waits in a port, outside the heap. What is in the heap
 * counts as used until a full collection, which may never come to a thread that rests.
 */

import { MessageChannel, receiveMessageOnPort } from "node:worker_threads";

export class Parcel<T> {
  readonly #channel = new MessageChannel();

  constructor(content: T) {
    this.#channel.port1.unref();
    this.#channel.port2.unref();
    this.#channel.port1.postMessage(content);
  }

  /** The content, for a message. REQUIRES: it was not dropped. */
  copy(): T {
    const content = receiveMessageOnPort(this.#channel.port2)!.message as T;
    this.#channel.port1.postMessage(content);
    return content;
  }

  /** The memory that it shares is given back when no thread uses it. */
  drop(): void {
    this.#channel.port1.close();
    this.#channel.port2.close();
  }
}

/** Queues the jobs of one lane. A job is for any worker or for a particular one. Urgent jobs come before all others. */

export interface Queued {
  readonly id: number; // ascends in the order of arrival
  /** The worker that must run the job. Undefined if any worker may run it. */
  readonly worker: number | undefined;
  /** Whether the job comes before all jobs that are not urgent. */
  readonly isUrgent: boolean;
}

export class LaneQueue<Job extends Queued> {
  readonly #urgent: Order<Job>;
  readonly #others: Order<Job>;

  constructor(workers: number) {
    this.#urgent = new Order(workers);
    this.#others = new Order(workers);
  }

  push(job: Job): void {
    (job.isUrgent ? this.#urgent : this.#others).of(job.worker).push(job);
  }

  /**
   * Removes and returns the oldest urgent job that this worker may run. If there is none, takes the oldest other job.
   */
  take(worker: number): Job | undefined {
    return this.#urgent.take(worker) ?? this.#others.take(worker);
  }

  /**
   * Removes and returns all jobs for one particular worker, or all jobs for any worker if `worker` is undefined. Urgent
   * jobs come first.
   */
  drain(worker: number | undefined): Job[] {
    return [...this.#urgent.of(worker).drain(), ...this.#others.of(worker).drain()];
  }
}

/** Jobs in the order of their arrival. */
class Order<Job extends Queued> {
  readonly #shared = new Fifo<Job>();
  readonly #own: readonly Fifo<Job>[];

  constructor(workers: number) {
    this.#own = Array.from({ length: workers }, () => new Fifo<Job>());
  }

  take(worker: number): Job | undefined {
    const own = this.of(worker);
    const mine = own.first;
    const anybodys = this.#shared.first;
    const isMine = mine !== undefined && (anybodys === undefined || mine.id < anybodys.id);
    return (isMine ? own : this.#shared).shift();
  }

  of(worker: number | undefined): Fifo<Job> {
    return (worker === undefined ? undefined : this.#own[worker]) ?? this.#shared;
  }
}

/** A queue whose shift() takes constant time on average. In contrast, Array.shift() moves all elements. */
class Fifo<T> {
  #items: T[] = [];
  #head = 0;

  get first(): T | undefined {
    return this.#items[this.#head];
  }

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): T | undefined {
    const item = this.#items[this.#head];
    if (item === undefined) return undefined;
    this.#head++;
    if (this.#head * 2 > this.#items.length) this.#items = this.drain();
    return item;
  }

  drain(): T[] {
    const rest = this.#items.slice(this.#head);
    this.#items = [];
    this.#head = 0;
    return rest;
  }
}

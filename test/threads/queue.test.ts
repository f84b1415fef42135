import fc from "fast-check";
import { expect, test } from "vitest";
import { LaneQueue, type Queued } from "../../src/threads/queue.ts";

const WORKERS = 3;
const worker = fc.constantFrom(undefined, 0, 1, 2);
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ push: worker, isUrgent: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ take: fc.nat({ max: WORKERS - 1 }) }) },
  { weight: 1, arbitrary: fc.record({ drain: worker }) },
);

/** The slow twin: one list in the order of arrival. */
class NaiveQueue {
  #jobs: Queued[] = [];

  push(job: Queued): void {
    this.#jobs.push(job);
  }

  take(worker: number): Queued | undefined {
    const may = this.#jobs.filter((one) => one.worker === undefined || one.worker === worker);
    const job = urgentFirst(may)[0];
    this.#jobs = this.#jobs.filter((one) => one !== job);
    return job;
  }

  drain(worker: number | undefined): Queued[] {
    const jobs = this.#jobs.filter((job) => job.worker === worker);
    this.#jobs = this.#jobs.filter((job) => job.worker !== worker);
    return urgentFirst(jobs);
  }
}

const urgentFirst = (jobs: Queued[]): Queued[] =>
  jobs.toSorted((a, b) => Number(b.isUrgent) - Number(a.isUrgent) || a.id - b.id);

test("a lane's queue behaves like one list: urgent tasks first, then in the order of arrival", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const [queue, naive] = [new LaneQueue(WORKERS), new NaiveQueue()];
      steps.forEach((one, id) => {
        const { push: worker, isUrgent } = { push: undefined, isUrgent: false, ...one };
        if ("push" in one) for (const each of [queue, naive]) each.push({ id, worker, isUrgent });
        else if ("drain" in one) expect(queue.drain(one.drain)).toEqual(naive.drain(one.drain));
        else expect(queue.take(one.take)).toEqual(naive.take(one.take));
      });
    }),
  );
});

import { isStuck, type QueueState } from "../api.ts";

export function QueueTable({ queues }: { queues: readonly QueueState[] }) {
  return (
    <table className="queues">
      <thead>
        <tr>
          <th>Queue</th>
          <th>Waiting</th>
          <th>Failed</th>
          <th>Oldest</th>
        </tr>
      </thead>
      <tbody>
        {queues.map((queue) => (
          <tr key={queue.name} className={isStuck(queue) ? "stuck" : undefined}>
            <td>{queue.name}</td>
            <td>{queue.waiting}</td>
            <td>{queue.failed}</td>
            <td>{queue.oldest}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

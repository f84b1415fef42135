import type { Sample } from "../api.ts";
import { formatBytes } from "../format.ts";
import { Sparkline } from "./Sparkline.tsx";

interface MachineCardProps {
  machine: string;
  history: readonly Sample[];
}

export function MachineCard({ machine, history }: MachineCardProps) {
  const last = history.at(-1);
  return (
    <article className="card" data-machine={machine}>
      <h2>{machine}</h2>
      <Sparkline values={history.map((sample) => sample.load)} />
      {last && <p>{formatBytes(last.memoryBytes)} in use</p>}
    </article>
  );
}

import { useSamples } from "../hooks/useSamples.ts";
import { useQueues } from "../hooks/useQueues.ts";
import { ErrorNote } from "./ErrorNote.tsx";
import { MachineCard } from "./MachineCard.tsx";
import { QueueTable } from "./QueueTable.tsx";

interface AppProps {
  endpoint: string;
}

export function App({ endpoint }: AppProps) {
  const samples = useSamples(endpoint);
  const queues = useQueues(endpoint);
  return (
    <main className="dashboard">
      <h1>Dashboard</h1>
      {samples.error && <ErrorNote error={samples.error} />}
      <section className="machines">
        {[...samples.byMachine].map(([machine, history]) => (
          <MachineCard key={machine} machine={machine} history={history} />
        ))}
      </section>
      <QueueTable queues={queues} />
    </main>
  );
}

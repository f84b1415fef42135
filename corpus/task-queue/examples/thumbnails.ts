import { FileStore, TaskQueue } from "../src/index.ts";

// TODO: show how to look at failed tasks
const queue = new TaskQueue({ store: await FileStore.open("thumbnails.journal"), concurrency: 2 });

queue.handle("thumbnail", async (task) => {
  const { picture, width } = task.payload as { picture: string; width: number };
  console.log(`resizing ${picture} to ${width} pixels`);
});

for (const picture of process.argv.slice(2)) {
  await queue.enqueue("thumbnail", { picture, width: 320 });
  await queue.enqueue("thumbnail", { picture, width: 64 }, "10s");
}
queue.start();

export type Task = () => Promise<void>

/** Runs tasks in their order, a few at the same time. */
export async function inLanes(tasks: Task[], lanes: number): Promise<void> {
  const left = tasks.values()
  async function runLane(): Promise<void> {
    for (const task of left) await task()
  }
  await Promise.all(Array.from({ length: lanes }, runLane))
}

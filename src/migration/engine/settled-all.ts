/** Waits for all, so that nothing is left behind, then throws the first error. */
export async function settledAll<T extends readonly unknown[]>(
  running: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(running)
  return Promise.all(running)
}

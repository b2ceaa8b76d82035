/**
 * Requests a URL of this machine, and returns the status of the response, whose body is not read.
 * @throws Error with the reason, when there is no response in time
 */
export async function requestStatus(url: string, timeoutMs: number): Promise<number> {
  const signal = AbortSignal.timeout(timeoutMs)
  const response = await fetch(url, { signal, redirect: 'manual' }).catch((error: Error) => {
    // The cause of “fetch failed” is inside the error.
    throw error.cause ?? error
  })
  await response.body?.cancel()
  return response.status
}

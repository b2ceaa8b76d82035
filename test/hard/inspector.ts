import { once } from 'node:events'

/** Inspects a Node process that was started with `--inspect`. */
export type Inspector = {
  /**
   * Collects garbage.
   * @returns used megabytes after it
   */
  heapMb(): Promise<number>
  close(): void
}

/** @param port of its inspector */
export async function inspect(port: number): Promise<Inspector> {
  const list = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as {
    webSocketDebuggerUrl: string
  }[]
  const socket = new WebSocket(list[0]?.webSocketDebuggerUrl ?? '')
  await once(socket, 'open')
  const waiting = new Map<number, (result: { usedSize?: number }) => void>()
  let asked = 0
  socket.addEventListener('message', ({ data }) => {
    const { id, result } = JSON.parse(String(data)) as {
      id?: number
      result?: { usedSize?: number }
    }
    if (id !== undefined) waiting.get(id)?.(result ?? {})
  })
  const ask = (method: string) =>
    new Promise<{ usedSize?: number }>((resolve) => {
      waiting.set((asked += 1), resolve)
      socket.send(JSON.stringify({ id: asked, method }))
    })
  return {
    async heapMb() {
      await ask('HeapProfiler.collectGarbage')
      return ((await ask('Runtime.getHeapUsage')).usedSize ?? NaN) / 2 ** 20
    },
    close: () => socket.close(),
  }
}

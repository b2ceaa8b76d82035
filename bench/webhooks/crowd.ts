import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/**
 * Opens connections that send nothing, or one byte of their body per second. @returns closes them
 */
export async function crowd(
  url: string,
  { idle, slow }: { idle: number; slow: number },
): Promise<() => void> {
  const { port, pathname } = new URL(url)
  const sockets: Socket[] = []
  for (let i = 0; i < idle + slow; i++) {
    const socket = connect(Number(port), '127.0.0.1').on('error', () => {})
    await once(socket, 'connect')
    sockets.push(socket)
  }
  const trickling = sockets.slice(idle)
  for (const socket of trickling)
    socket.write(`POST ${pathname} HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n`)
  const timer = setInterval(() => trickling.forEach((socket) => socket.write('x')), 1_000)
  return () => {
    clearInterval(timer)
    for (const socket of sockets) socket.destroy()
  }
}

/**
 * Sends concurrent bodies of ten mebibytes, and samples a value meanwhile.
 * @returns the largest sample
 */
export async function heavyBodies(
  url: string,
  count: number,
  watch: () => number,
): Promise<number> {
  let most = 0
  const timer = setInterval(() => (most = Math.max(most, watch())), 20)
  const body = Buffer.alloc(10 * 1024 * 1024, 'x')
  const answers = Array.from({ length: count }, () =>
    fetch(url, { method: 'POST', body }).then((r) => r.status),
  )
  await Promise.all(answers)
  clearInterval(timer)
  return most
}

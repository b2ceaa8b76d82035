import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** A port that never accepts connections: a stopped process with a full queue. */
export async function startBlackHole(
  host: string,
  port: number,
): Promise<{ port: number; close(): Promise<void> }> {
  const script = `
    const server = require('node:net').createServer()
    server.listen({ host: '${host}', port: ${port}, backlog: 1 }, () => console.log(server.address().port))`
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  const where = { host, port: Number(line.toString()) }
  child.kill('SIGSTOP')
  const queued: Socket[] = []
  for (let full = false; !full;) {
    const socket = connect(where)
    queued.push(socket.on('error', () => {}))
    full = await Promise.race([
      once(socket, 'connect').then(() => false),
      wait(100).then(() => true),
    ])
  }
  return {
    port: where.port,
    close: async () => {
      for (const socket of queued) socket.destroy()
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

const wait = (ms: number) => new Promise((done) => setTimeout(done, ms))

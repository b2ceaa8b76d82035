import { once } from 'node:events'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

// Below the ports that the kernel gives to connections and to servers without a port of their own,
// and above 10080, to which fetch refuses to connect (“bad port” of the Fetch standard).
// Between two servers on one port, a test would talk to that of another test.
const [FIRST, LAST] = [10_081, 32_000]

/** One file for each port in use, with the process that owns it. */
const CLAIMS = join(tmpdir(), `portreeve-test-ports-${process.getuid?.()}`)

const mine = new Set<string>()
let next = FIRST + Math.floor(Math.random() * (LAST - FIRST))

/** Returns a free port of the loopback interface. No other test gets it while this process lives. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = next
    next = port < LAST ? port + 1 : FIRST
    if (claim(port) && (await isFree(port))) return port
  }
}

function claim(port: number): boolean {
  if (mine.size === 0) {
    mkdirSync(CLAIMS, { recursive: true })
    process.once('exit', () => {
      for (const file of mine) rmSync(file, { force: true })
    })
  }
  const file = join(CLAIMS, String(port))
  if (isTaken(file)) return false
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' })
  } catch {
    return false
  }
  mine.add(file)
  return true
}

/** Whether a process that lives owns the port. Removes the file of one that was killed. */
function isTaken(file: string): boolean {
  try {
    process.kill(Number(readFileSync(file, 'utf8')), 0)
    return true
  } catch (error) {
    // The process ended, or its file is being written.
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') rmSync(file, { force: true })
    return false
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
    server.close()
    await once(server, 'close')
    return true
  } catch {
    return false
  }
}

import type { App } from '../../src/http/http-server.ts'
import { startInstance, type Instance } from '../deploy/instance.ts'
import { startNginx } from '../deploy/nginx.ts'
import { freePort } from '../free-port.ts'

/** A service of several processes. */
export type Scaled = {
  /** Of nginx, which gives each request to the next of them. */
  url: string
  /** The first instance's own address. */
  wire: string
  stop: () => Promise<void>
}

/** The runner's settings, which a process that a test starts does not have. */
const runner = import.meta as { env?: Record<string, string> }

/**
 * Whether this run puts three instances behind nginx where others start one in the test's own
 * process.
 */
export const isScaled = runner.env?.['PORTREEVE_SCALED'] === '1'

/** The roles of each instance, so that a request and its jobs run in different ones. */
const SPLIT = ['web', 'web,worker', 'web,worker,smtp']

/** Instances that only answer, beside a test that does the work itself. */
const ANSWERING = ['web', 'web', 'web']

/**
 * Starts three processes with the same settings behind nginx.
 * @param env as for one instance, with DATABASE_URL and SECRET_KEY
 * @param roles of each
 */
export async function startScaled(
  env: Record<string, string>,
  roles: string[] = SPLIT,
): Promise<Scaled> {
  await using undo = new AsyncDisposableStack()
  const port = await freePort()
  const url = `http://localhost:${port}`
  // Tests with trusted proxies set the client address themselves: nginx appends its client to that.
  const isBehindAnother = env['TRUSTED_PROXIES'] !== undefined
  const shared = { BASE_URL: url, TRUSTED_PROXIES: '127.0.0.0/8', ...env }
  const instances: Instance[] = []
  undo.defer(async () => void (await Promise.all(instances.map((instance) => instance.kill()))))
  await Promise.all(
    roles.map(async (ROLES, n) => void (instances[n] = await startInstance({ ...shared, ROLES }))),
  )
  const addresses = instances.map((instance) => instance.url)
  const nginx = await startNginx(addresses, { port, isBehindAnother })
  undo.defer(() => nginx.stop())
  const started = undo.move()
  async function stop(): Promise<void> {
    // What they still answer goes through nginx.
    await Promise.all(instances.map((instance) => instance.kill()))
    await started.disposeAsync()
  }
  return { url, wire: addresses[0] ?? '', stop }
}

/**
 * Starts the listener for a module’s requests: its own server, or in a scaled run three instances
 * with these settings, while the test’s process runs the jobs.
 */
export async function listenForTests(
  app: App,
  env: Record<string, string>,
): Promise<Omit<Scaled, 'wire'>> {
  if (!isScaled)
    return { url: await app.listen({ host: '127.0.0.1', port: 0 }), stop: () => app.close() }
  const { url, stop } = await startScaled(env, ANSWERING)
  return {
    url,
    async stop() {
      await stop()
      await app.close()
    },
  }
}

import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Client } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { createLog } from '../../src/log.ts'
import { reachEmbedded, startEmbedded, type Embedded } from '../../src/store/embedded.ts'
import { findBinaries, findPackage } from '../../src/store/embedded/binaries.ts'
import { prepareFolder } from '../../src/store/embedded/folder.ts'
import { processesOf } from '../../src/store/embedded/leftovers.ts'
import { isRoot, spawnAs, unprivilegedUser } from '../../src/store/embedded/database-user.ts'
import { initdbsOf } from './initdbs.ts'

const log = createLog('silent')
const CHILD = join(import.meta.dirname, 'embedded.child.ts')

type Said = { url: string; pid: number; error?: string }
type Service = { child: ChildProcess; said: Said }

let dataDir: string
/** A data folder that was started once: creating one takes most of the time of a first start. */
let ready: string
let running: Embedded[] = []
let children: ChildProcess[] = []

beforeAll(async () => {
  ready = mkdtempSync(join(tmpdir(), 'portreeve-data-'))
  chmodSync(ready, 0o755)
  await (await startEmbedded({ dataDir: ready, log })).stop()
})
afterAll(() => rmSync(ready, { recursive: true, maxRetries: 3 }))

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'portreeve-data-'))
  // mkdtemp makes it ours alone, which is another test.
  chmodSync(dataDir, 0o755)
})

afterEach(async () => {
  for (const embedded of running.splice(0)) await embedded.stop()
  for (const child of children.splice(0)) child.kill('SIGKILL')
  await killServer()
  rmSync(dataDir, { recursive: true, maxRetries: 3 })
})

/** Gives the test a data folder with a database. */
function useReady(): void {
  execFileSync('cp', ['-a', join(ready, 'postgres'), dataDir])
}

async function start(folder: string = dataDir): Promise<Embedded> {
  const embedded = await startEmbedded({ dataDir: folder, log })
  running.push(embedded)
  return embedded
}

/** Starts a service in a process of its own. */
async function startChild(): Promise<Service> {
  const child = spawn(process.execPath, [CHILD, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] })
  children.push(child)
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  return { child, said: JSON.parse(line) as Said }
}

/** Kills the server and its children, which also end by themselves without it. */
async function killServer(): Promise<void> {
  for (const pid of processesOf(join(dataDir, 'postgres'))) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
  }
  await vi.waitFor(() => expect(processesOf(join(dataDir, 'postgres'))).toEqual([]))
}

async function killService({ child }: Service): Promise<void> {
  child.kill('SIGKILL')
  await once(child, 'exit')
}

async function ask(url: string, ...statements: string[]): Promise<unknown[]> {
  const client = new Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    let rows: unknown[] = []
    for (const statement of statements)
      ({ rows } = await client.query<Record<string, unknown>>({ text: statement }))
    return rows.map((row) => Object.values(row as object)).flat()
  } finally {
    await client.end()
  }
}

describe('the PostgreSQL we ship', () => {
  it('creates its database at the first start, and finds it at the next', async () => {
    const creating = performance.now()
    const first = await start()
    const creation = performance.now() - creating
    await ask(first.url, 'create table kept (n int)', 'insert into kept values (1)')
    await first.stop()
    expect(processesOf(join(dataDir, 'postgres'))).toEqual([])
    const begun = performance.now()
    const second = await start()
    // Creating one takes several times as long.
    expect(performance.now() - begun).toBeLessThan(creation)
    expect(await ask(second.url, 'select n from kept')).toEqual([1])
  })

  it('has full durability and data checksums', async () => {
    useReady()
    const { url } = await start()
    for (const setting of ['fsync', 'synchronous_commit', 'full_page_writes', 'data_checksums']) {
      expect([setting, ...(await ask(url, `show ${setting}`))]).toEqual([setting, 'on'])
    }
    expect(await ask(url, 'show listen_addresses')).toEqual([''])
  })

  it('supports letters beyond ASCII, and grants only the required rights', async () => {
    useReady()
    const { url } = await start()
    expect(await ask(url, `select upper('ärger')`)).toEqual(['ÄRGER'])
    expect(await ask(url, 'select rolsuper from pg_roles where rolname = current_user')).toEqual([
      false,
    ])
    await expect(ask(url, `select pg_read_file('/etc/passwd')`)).rejects.toThrow(
      'permission denied',
    )
  })

  it('finds a place for its socket where the path of the data is longer than one may be', async () => {
    const { url } = await start(join(dataDir, 'd'.repeat(60), 'e'.repeat(60)))
    expect(await ask(url, 'select 1')).toEqual([1])
    await running.pop()?.stop()
    rmSync(new URL(url).searchParams.get('host') ?? '', { recursive: true })
  })

  it('can be reached by a command beside the service, and by one without', async () => {
    const alone = await reachEmbedded({ dataDir, log })
    await ask(alone.url, 'create table kept (n int)')
    await alone.stop()
    await start()
    const beside = await reachEmbedded({ dataDir, log })
    expect(await ask(beside.url, 'select count(*)::int from kept')).toEqual([0])
    await beside.stop()
    expect(await ask(beside.url, 'select 1')).toEqual([1])
  })
})

describe('commands that start at the same instant', () => {
  it('take turns, also where there is no database yet, and a service waits for them', async () => {
    const command = async () => {
      const embedded = await reachEmbedded({ dataDir, log })
      const answer = await ask(embedded.url, 'select 1')
      await embedded.stop()
      return answer
    }
    const [service, ...answers] = await Promise.all([start(), command(), command(), command()])
    expect(answers).toEqual([[1], [1], [1]])
    expect(await ask(service.url, 'select 1')).toEqual([1])
  })
})

describe.runIf(isRoot())('as root, the PostgreSQL we ship', () => {
  it('runs under another user, who owns its folder', async () => {
    const { pid } = await start()
    const user = unprivilegedUser()
    expect(statSync(`/proc/${pid}`).uid).toBe(user.uid)
    expect(statSync(join(dataDir, 'postgres')).uid).toBe(user.uid)
    expect(capabilitiesOf(pid)).toBe(0n)
  })

  it('runs in a folder that this user may not enter, with the one right it needs for that', async () => {
    mkdirSync(join(dataDir, 'closed'), { mode: 0o700 })
    const { url, pid } = await start(join(dataDir, 'closed'))
    expect(await ask(url, 'select 1')).toEqual([1])
    // CAP_DAC_READ_SEARCH, capabilities(7)
    expect(capabilitiesOf(pid)).toBe(1n << 2n)
  })

  it('runs from a checkout that this user may not enter', async () => {
    const closed = join(dataDir, 'checkout')
    mkdirSync(closed, { mode: 0o700 })
    cpSync(findPackage(), join(closed, 'native'), { recursive: true, verbatimSymlinks: true })
    const binaries = findBinaries(join(dataDir, 'lib'), join(closed, 'native'))
    await prepareFolder(join(dataDir, 'postgres'), binaries, unprivilegedUser(), null)
    expect(await ask((await start()).url, 'select 1')).toEqual([1])
  })

  it('explains the fix when this user may not execute it', async () => {
    const bin = join(dataDir, 'native', 'bin')
    mkdirSync(bin, { recursive: true })
    writeFileSync(join(bin, 'initdb'), '', { mode: 0o700 })
    const prepared = prepareFolder(
      join(dataDir, 'postgres'),
      { bin, major: 18, env: {} },
      unprivilegedUser(),
      null,
    )
    await expect(prepared).rejects.toThrow(`chmod -R go+rX ${join(dataDir, 'native')}`)
  })

  it('lets no other user of the system in, not even where the folder stands open', async () => {
    useReady()
    const { url } = await start()
    const nobody = { name: 'nobody', uid: 65_534, gid: 65_534 }
    const program = `import pg from 'pg'
      const client = new pg.Client(${JSON.stringify(url)})
      await client.connect().then(() => console.log('in'), (error) => console.log(error.message))
      process.exit()`
    const knock = () => {
      const options = {
        uid: nobody.uid,
        gid: nobody.gid,
        cwd: import.meta.dirname,
        encoding: 'utf8' as const,
      }
      return spawnSync(process.execPath, ['--input-type=module', '-e', program], options).stdout
    }
    expect(knock()).toContain('EACCES')
    chmodSync(join(dataDir, 'postgres'), 0o755)
    expect(knock()).toContain('EACCES')
    chmodSync(join(dataDir, 'postgres/.s.PGSQL.5432'), 0o777)
    expect(knock()).toContain('authentication failed')
  })

  it('takes over a folder that root copied', async () => {
    useReady()
    const first = await start()
    await ask(first.url, 'create table kept (n int)')
    await first.stop()
    spawnSync('chown', ['-R', '0:0', join(dataDir, 'postgres')])
    expect(await ask((await start()).url, 'select count(*)::int from kept')).toEqual([0])
  })
})

describe('after a crash', () => {
  it('ends the server that a killed service left, and has all that was committed', async () => {
    useReady()
    const service = await startChild()
    await ask(service.said.url, 'create table kept (n int)', 'insert into kept values (1)')
    await killService(service)
    expect(await ask(service.said.url, 'insert into kept values (2) returning n')).toEqual([2])
    const embedded = await start()
    expect(embedded.pid).not.toBe(service.said.pid)
    expect(await ask(embedded.url, 'select n from kept order by n')).toEqual([1, 2])
  })

  it('recovers when everything was killed at once', async () => {
    useReady()
    const service = await startChild()
    await ask(service.said.url, 'create table kept (n int)', 'insert into kept values (1)')
    await killAll(service)
    expect(existsSync(join(dataDir, 'postgres', 'postmaster.pid'))).toBe(true)
    expect(await ask((await start()).url, 'select n from kept')).toEqual([1])
  })

  it('ignores another process that has the old server’s number now', async () => {
    useReady()
    const service = await startChild()
    await killAll(service)
    const user = isRoot() ? unprivilegedUser() : null
    const stranger = spawnAs(user, ['sleep', '600'], [], { stdio: 'ignore' })
    children.push(stranger)
    for (const name of ['postmaster.pid', '.s.PGSQL.5432.lock']) {
      const path = join(dataDir, 'postgres', name)
      const [, ...rest] = readFileSync(path, 'utf8').split('\n')
      writeFileSync(path, [stranger.pid, ...rest].join('\n'))
    }
    expect(await ask((await start()).url, 'select 1')).toEqual([1])
    expect(stranger.exitCode ?? stranger.signalCode).toBeNull()
  })

  it('ends children that outlived their server before it starts a new one', async () => {
    useReady()
    const service = await startChild()
    await ask(service.said.url, 'create table kept (n int)')
    const busy = ask(
      service.said.url,
      'insert into kept select n from generate_series(1, 1e12) n',
    ).catch(() => {})
    const inserting = `select count(*)::int from pg_stat_activity where state = 'active' and query like 'insert%'`
    await expect.poll(() => ask(service.said.url, inserting)).toEqual([1])
    await killService(service)
    process.kill(service.said.pid, 'SIGKILL')
    const orphaned = () => processesOf(join(dataDir, 'postgres'))
    await expect.poll(orphaned).toHaveLength(1)
    const orphans = orphaned()
    const { url } = await start()
    await busy
    expect(processesOf(join(dataDir, 'postgres'))).not.toContain(orphans[0])
    expect(await ask(url, 'select count(*)::int from kept')).toEqual([0])
  })

  it('starts over when the first start was killed', async () => {
    const child = spawn(process.execPath, [CHILD, dataDir], { stdio: 'ignore' })
    children.push(child)
    await expect.poll(() => initdbsOf(dataDir).length, { interval: 5 }).toBeGreaterThan(0)
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(readdirSync(dataDir)).not.toContain('postgres')
    // The killed service's initdb goes on for a moment, and this must not matter.
    const embedded = await start()
    expect(await ask(embedded.url, 'select 1')).toEqual([1])
    await embedded.stop()
    await expect.poll(() => initdbsOf(dataDir)).toEqual([])
    await start()
    expect(readdirSync(dataDir)).toEqual(['postgres', 'postgres.lock'])
  })

  it('starts the server again when it ends while we run', async () => {
    useReady()
    const embedded = await start()
    await ask(embedded.url, 'create table kept (n int)', 'insert into kept values (1)')
    const { pid } = embedded
    process.kill(pid ?? 0, 'SIGKILL')
    await vi.waitFor(
      async () => expect(await ask(embedded.url, 'select n from kept')).toEqual([1]),
      10_000,
    )
    expect(embedded.pid).not.toBe(pid)
  })

  it('stops at once although the server is just being started again', async () => {
    useReady()
    const embedded = await start()
    const pid = embedded.pid ?? NaN
    process.kill(pid, 'SIGKILL')
    await expect.poll(() => embedded.pid, { interval: 5 }).not.toBe(pid)
    await embedded.stop()
    await vi.waitFor(() => expect(processesOf(join(dataDir, 'postgres'))).toEqual([]))
  })
})

describe('a folder that is used otherwise', () => {
  it(
    'is reported as in use while another service runs on it, also after that one briefly lost its claim',
    { timeout: 30_000 },
    async () => {
      useReady()
      const { url } = await start()
      expect((await startChild()).said.error).toMatch(/Another Portreeve is using .*postgres/)
      const supervisor = url.replace('portreeve@', 'postgres@').replace('/portreeve?', '/postgres?')
      await ask(
        supervisor,
        `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'portreeve supervisor'`,
      )
      const claims = `select count(*)::int from pg_stat_activity where application_name = 'portreeve supervisor'`
      await expect.poll(() => ask(supervisor, claims)).toEqual([1])
      expect((await startChild()).said.error).toMatch(/Another Portreeve is using .*postgres/)
      expect(await ask(url, 'select 1')).toEqual([1])
    },
  )

  it('goes to one of two services that start at the same time', async () => {
    const services = await Promise.all([startChild(), startChild()])
    const [winner] = services.filter(({ said }) => !said.error)
    expect(services.map(({ said }) => said.error ?? '').toSorted()).toEqual([
      '',
      expect.stringMatching(/Another (Portreeve|PostgreSQL)/),
    ])
    expect(await ask(winner?.said.url ?? '', 'select 1')).toEqual([1])
    expect(readdirSync(dataDir)).toEqual(['postgres', 'postgres.lock'])
  })

  it('is left alone when a later major version made it', async () => {
    mkdirSync(join(dataDir, 'postgres'), { mode: 0o700 })
    writeFileSync(join(dataDir, 'postgres', 'PG_VERSION'), '19\n')
    await expect(start()).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(/made by PostgreSQL 19.*DATABASE_URL/),
    })
    expect(readdirSync(join(dataDir, 'postgres'))).toEqual(['PG_VERSION'])
  })

  it('is left alone when it holds something else', async () => {
    mkdirSync(join(dataDir, 'postgres'))
    writeFileSync(join(dataDir, 'postgres', 'letter.txt'), 'Dear …')
    await expect(start()).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(/not a database/),
    })
    expect(readdirSync(join(dataDir, 'postgres'))).toEqual(['letter.txt'])
  })
})

async function killAll(service: Service): Promise<void> {
  await killService(service)
  await killServer()
}

function capabilitiesOf(pid: number | undefined): bigint {
  const [, mask] = /CapPrm:\s*([0-9a-f]+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return BigInt(`0x${mask}`)
}

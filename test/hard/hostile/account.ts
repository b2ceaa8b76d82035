import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { findAccountByEmail } from '../../../src/accounts/accounts.sql.ts'
import { issueToken } from '../../../src/accounts/tokens/api-tokens.ts'
import { insertWorkspace } from '../../../src/accounts/workspaces/workspaces.sql.ts'
import { createLog } from '../../../src/log.ts'
import { openDatabase, type Database } from '../../../src/store/database.ts'
import { reachEmbedded } from '../../../src/store/embedded.ts'
import { runPortreeve } from '../../cli/command.ts'
import { mailWith } from '../../dmarc/reports.ts'
import { listen, type Listening } from '../../servers/listen.ts'
import type { Place } from '../place.ts'
import { beHostile } from './mail.ts'

/**
 * An account that misuses everything it is allowed to do. Plain data, so that the attack can run in
 * another process.
 */
export type Attacker = {
  url: string
  token: string
  cookie: string
  smtpPort: number
  /** Its address for DMARC reports. */
  reportEmail: string
  endpoint: { id: string; token: string }
  /** Tokens of its workspaces, many more than its plan allows. */
  workspaces: string[]
  /** A batch of 5,000 mailboxes in its first workspace, which also watches 1,000 domains. */
  batchId: string
}

/** Starts an attack, which runs until it is stopped. */
export type Attack = (attacker: Attacker) => Promise<Stoppable> | Stoppable
type Stoppable = { stop(): Promise<void> | void }

const EMAIL = 'mallory@people.test'
const PASSWORD = 'the password of Mallory'
const WORKSPACES = 60

/** Creates the attacker’s account, on the smallest plan. */
export async function startAttacker(place: Place, smtpPort: number): Promise<Attacker> {
  await runPortreeve(
    ['user', 'create', '--email', EMAIL, '--password-stdin'],
    place.env,
    `${PASSWORD}\n`,
  )
  const token = (await runPortreeve(['token', 'create', '--email', EMAIL], place.env)).out.trim()
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const post = async (path: string, body: unknown) => {
    const answer = await fetch(place.url + path, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    return answer.json()
  }
  const domain = (await post('/api/v1/dmarc/domains', { domain: 'mallory.test' })) as {
    data: { reportEmail: string }
  }
  const { endpoint } = (await post('/api/webhook/endpoints', {})) as {
    endpoint: { id: string; token: string }
  }
  const { reportEmail } = domain.data
  const others = await withDatabase(place, (database) => addWorkspaces(database, WORKSPACES - 1))
  const workspaces = [token, ...others]
  const batchId = await withDatabase(place, fillLists)
  const cookie = await signIn(place)
  return { url: place.url, token, cookie, smtpPort, reportEmail, endpoint, workspaces, batchId }
}

async function withDatabase<T>(
  { dataDir }: Place,
  use: (database: Database) => Promise<T>,
): Promise<T> {
  const { url } = await reachEmbedded({ dataDir, log: createLog('silent') })
  const database = openDatabase(url)
  try {
    return await use(database)
  } finally {
    await database.close()
  }
}

/**
 * Gives the attacker more workspaces in the database, as it could have had before invitations as
 * owner took a place of its plan.
 * @returns a token of each
 */
async function addWorkspaces({ db }: Database, count: number): Promise<string[]> {
  const { id: accountId, plan } = await accountIn(db)
  return Promise.all(
    Array.from({ length: count }, async (_, n) => {
      const workspace = { name: `Number ${n}`, plan, createdBy: accountId }
      const { id } = await db.transaction().execute((trx) => insertWorkspace(trx, workspace))
      return (await issueToken(db, { accountId, workspaceId: id })).token
    }),
  )
}

async function accountIn(db: Database['db']) {
  const account = await findAccountByEmail(db, EMAIL)
  if (!account) throw new Error(`${EMAIL} has no account`)
  return account
}

/**
 * Fills lists with as many rows as the largest plan has, in the database: each would be checked
 * first.
 * @returns the batch
 */
async function fillLists({ db, pool }: Database): Promise<string> {
  const { id: account } = await accountIn(db)
  const first = 'select id from workspace where created_by = $1 order by id limit 1'
  const { rows } = await pool.query<{ id: string }>(
    `insert into migration_batch (workspace_id, name, options, source_limit, destination_limit)
     select id, 'company', $2, 1, 1 from (${first}) as its returning id`,
    [account, JSON.stringify(BATCH_OPTIONS)],
  )
  const batch = rows[0]?.id ?? ''
  const mailbox = (host: string) =>
    `jsonb_build_object('host', '${host}', 'port', 993, 'secure', true, 'user', 'mailbox' || n || '@company.test')`
  await pool.query(
    `insert into batch_mailbox (batch_id, line, state, source, destination)
     select $1, n, 'ready', ${mailbox('imap.old.test')}, ${mailbox('imap.new.test')}
     from generate_series(1, 5000) as n`,
    [batch],
  )
  await pool.query(
    `insert into watched_domain (workspace_id, domain, hosts, check_due_at)
     select id, 'd' || n || '.test', '{}', now() + interval '1 day' from (${first}) as its, generate_series(1, 1000) as n`,
    [account],
  )
  return batch
}

const BATCH_OPTIONS = {
  specialUse: true,
  deduplicate: false,
  allMailOnce: false,
  destPrefix: '',
  folderMap: {},
}

/** A request of the attacker's. @returns its status; 0 when there was no answer */
async function send(
  { url, token }: Attacker,
  path: string,
  method = 'GET',
  body?: string,
): Promise<number> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const answer = await fetch(url + path, {
    method,
    headers,
    ...(body !== undefined && { body }),
  }).catch(() => null)
  await answer?.arrayBuffer().catch(() => null)
  return answer?.status ?? 0
}

/** A request without a token, perhaps with a session. */
async function askAnonymously({ url, cookie }: Attacker, path: string, hasSession = false) {
  const answer = await fetch(url + path, { headers: hasSession ? { cookie } : {} }).catch(
    () => null,
  )
  await answer?.arrayBuffer().catch(() => null)
}

async function signIn({ url }: Place): Promise<string> {
  const headers = { 'content-type': 'application/json', 'x-forwarded-for': '192.0.2.77' }
  const body = JSON.stringify({ email: EMAIL, password: PASSWORD })
  const answer = await fetch(`${url}/api/auth/sign-in/email`, { method: 'POST', headers, body })
  return answer.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ')
}

/** Sends the same kind of request on several connections, each after the previous response. */
function repeat(connections: number, attempt: (n: number) => Promise<unknown>): Stoppable {
  const stopping = new AbortController()
  let next = 0
  const senders = Array.from({ length: connections }, async () => {
    while (!stopping.signal.aborted) await attempt(next++)
  })
  return {
    async stop() {
      stopping.abort()
      await Promise.all(senders)
    },
  }
}

/** Requests whose answers are never read. */
function readNothing(
  { url }: Attacker,
  count: number,
  path: (n: number) => string,
  header: string,
): Stoppable {
  const port = Number(new URL(url).port)
  const sockets = Array.from({ length: count }, (_, n) => {
    const socket: Socket = connect(port, '127.0.0.1', () => {
      socket.write(`GET ${path(n)} HTTP/1.1\r\nHost: x\r\n${header}\r\n\r\n`)
    })
    return socket.on('error', () => {}).pause()
  })
  return { stop: () => sockets.forEach((socket) => socket.destroy()) }
}

/** An IMAP server that accepts every sign-in and then only sends keep-alives. */
function startTarpit(): Promise<Listening> {
  return listen((socket) => {
    socket.write('* OK ready\r\n')
    const timer = setInterval(() => socket.writable && socket.write('* OK still here\r\n'), 1_000)
    socket.on('close', () => clearInterval(timer))
    socket.on('data', (bytes: Buffer) => {
      const [tag = '', name = ''] = bytes.toString('latin1').split(/\s/)
      if (/^(CAPABILITY|LOGIN|ID|ENABLE)$/i.test(name))
        socket.write(`* CAPABILITY IMAP4rev1\r\n${tag} OK done\r\n`)
    })
  })
}

/** A mail in the form of an mbox with thousands of mails in it. */
function mboxMail(): string {
  return 'From a@b.test Mon Jan  1 00:00:00 2024\nSubject: x\n\nx\n\n'.repeat(2_000_000 / 50)
}

/** A report with random content, so that it neither compresses nor counts as a duplicate. */
function junkMail(): string {
  const junk = gzipSync(randomBytes(2_000_000))
  return mailWith({
    attachment: junk,
    type: 'application/gzip',
    fileName: `${randomBytes(4).toString('hex')}.xml.gz`,
  })
}

function sendMails({ smtpPort, reportEmail }: Attacker, mail: () => string): Stoppable {
  const sockets = new Set<Socket>()
  let stopped = false
  const begin = (n: number) => {
    const socket = beHostile(smtpPort, `127.6.0.${(n % 15) + 1}`, (open) => {
      const envelope = `EHLO x\r\nMAIL FROM:<a@receiver.test>\r\nRCPT TO:<${reportEmail}>\r\nDATA\r\n`
      open.write(`${envelope}${mail()}\r\n.\r\nQUIT\r\n`)
    })
    sockets.add(socket)
    socket.on('close', () => {
      sockets.delete(socket)
      if (!stopped) setTimeout(begin, 50, n)
    })
  }
  for (let n = 0; n < 15; n++) begin(n)
  return {
    stop() {
      stopped = true
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** Fills the endpoint, so that an export exceeds socket buffers. */
async function fillEndpoint({ url, endpoint }: Attacker): Promise<void> {
  const body = 'x'.repeat(1 << 20)
  for (let n = 0; n < 40; n++) {
    await (await fetch(`${url}/webhooks/${endpoint.token}`, { method: 'POST', body })).arrayBuffer()
  }
}

const side = (port: number) => ({
  host: '127.0.0.1',
  port,
  secure: false,
  user: 'mallory',
  password: 'secret',
})

/** One of the attacker’s workspaces after the other. */
const inWorkspace = (attacker: Attacker, n: number): Attacker => ({
  ...attacker,
  token: attacker.workspaces[n % attacker.workspaces.length] as string,
})

/** The attacks of one account on all others. */
export const ATTACKS: Record<string, Attack> = {
  'sends requests that are wrong in 40,000 places': (attacker) => {
    const kinds = JSON.stringify({
      type: 'email',
      target: 'a@b.test',
      kinds: Array(40_000).fill('wrong'),
    })
    const check = JSON.stringify({
      kind: 'dns',
      data: Array.from({ length: 100_000 }, () => ({ a: 1 })),
      receipt: 'x',
    })
    return repeat(8, (n) =>
      n % 2
        ? send(attacker, '/api/v1/alerts/channels', 'POST', kinds)
        : send(attacker, '/api/v1/shared-checks', 'POST', check),
    )
  },
  'downloads its data 32 times at once and reads nothing of it': async (attacker) => {
    await fillEndpoint(attacker)
    return readNothing(attacker, 32, () => '/api/v1/account/export', `Cookie: ${attacker.cookie}`)
  },
  'reads nothing of 200 lists of requests with large bodies': async (attacker) => {
    await fillEndpoint(attacker)
    const path = `/api/webhook/endpoints/${attacker.endpoint.id}/requests?limit=500`
    return readNothing(attacker, 200, () => path, `Authorization: Bearer ${attacker.token}`)
  },
  'keeps 500 connections open that have sent a mebibyte each': ({ url, endpoint }) => {
    const { port, hostname } = new URL(url)
    const body = 'x'.repeat(1 << 20)
    const head = `POST /webhooks/${endpoint.token} HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n`
    const sockets: Socket[] = []
    const sending = repeat(4, async () => {
      if (sockets.length >= 500) return sleep(100)
      const socket = connect(Number(port), hostname, () => socket.write(head + body))
      sockets.push(socket.on('error', () => {}))
      await once(socket, 'data')
    })
    return {
      async stop() {
        await sending.stop()
        sockets.forEach((socket) => socket.destroy())
      },
    }
  },
  'asks on 100 connections who is signed in': (attacker) =>
    repeat(100, (n) => askAnonymously(attacker, '/api/auth/get-session', n % 2 === 0)),
  'asks on 100 connections for paths of 14,000 characters': (attacker) => {
    const path = `/api/v1/${'abuse/'.repeat(2_300)}`
    return repeat(100, () => askAnonymously(attacker, path))
  },
  'is sent mails that are whole mailboxes': (attacker) => {
    const mail = mboxMail()
    return sendMails(attacker, () => mail)
  },
  'is sent junk of two megabytes a mail': (attacker) => {
    // Created before the attack, because creating one takes longer than sending it.
    const mails = Array.from({ length: 60 }, junkMail)
    let next = 0
    return sendMails(attacker, () => mails[next++ % mails.length] ?? '')
  },
  'migrates from servers that never answer': async (attacker) => {
    const tarpit = await startTarpit()
    const body = (dryRun: boolean) =>
      JSON.stringify({
        source: side(tarpit.port),
        destination: side(tarpit.port),
        folders: ['INBOX'],
        dryRun,
      })
    for (let n = 0; n < 6; n++) await send(attacker, '/api/v1/imap/migrate', 'POST', body(n > 0))
    const looks = repeat(10, () =>
      send(attacker, '/api/v1/imap/list-folders', 'POST', JSON.stringify(side(tarpit.port))),
    )
    return {
      async stop() {
        await tarpit.close()
        await looks.stop()
      },
    }
  },
  'has its reports fetched from mailboxes that never answer': async (attacker) => {
    const tarpit = await startTarpit()
    for (let n = 0; n < 10; n++) {
      await send(
        attacker,
        '/api/v1/dmarc/mailboxes',
        'POST',
        JSON.stringify({ ...side(tarpit.port), user: `mallory${n}` }),
      )
    }
    return { stop: () => tarpit.close() }
  },
  'sends its endpoint a mebibyte at a time': ({ url, endpoint }) => {
    const body = 'x'.repeat(1 << 20)
    return repeat(8, async () => {
      const answer = await fetch(`${url}/webhooks/${endpoint.token}`, {
        method: 'POST',
        body,
      }).catch(() => null)
      await answer?.arrayBuffer()
    })
  },
  'opens 300 event streams': (attacker) =>
    readNothing(
      attacker,
      300,
      (n) => (n % 2 ? '/api/v1/events' : `/api/webhook/endpoints/${attacker.endpoint.id}/events`),
      `Authorization: Bearer ${attacker.token}`,
    ),
  'checks domains and addresses that nothing answers for, 200 at once': (attacker) =>
    repeat(200, (n) =>
      n % 2
        ? send(attacker, `/api/v1/dmarc-check?domain=n${n}.mallory.test`)
        : send(attacker, `/api/v1/blacklist-check?ip=8.${(n >> 8) & 255}.${n & 255}.8`),
    ),
  'searches its captured requests, 50 at once': async (attacker) => {
    await fillEndpoint(attacker)
    return repeat(50, (n) =>
      send(
        attacker,
        `/api/webhook/endpoints/${attacker.endpoint.id}/requests?limit=500&q=none${n}`,
      ),
    )
  },
  'downloads the report of a batch of 5,000 mailboxes, 40 at once': (attacker) =>
    repeat(40, () => send(attacker, `/api/v1/imap/batches/${attacker.batchId}/report.csv`)),
  'lists a thousand watched domains, 40 at once': (attacker) =>
    repeat(40, () => send(attacker, '/api/v1/domains?watched=true')),
  'searches 5,000 mailboxes of a batch, 40 at once': (attacker) =>
    repeat(40, (n) =>
      send(attacker, `/api/v1/imap/batches/${attacker.batchId}/mailboxes?limit=100&q=box${n}`),
    ),
  'lists incidents in sixty workspaces, 400 at once': (attacker) =>
    repeat(400, (n) => send(inWorkspace(attacker, n), '/api/v1/alerts/incidents')),
  'opens the overviews of sixty workspaces, 120 at once': (attacker) =>
    repeat(120, (n) => send(inWorkspace(attacker, n), '/api/v1/overview')),
  'names strangers as recipients of alerts in sixty workspaces': (attacker) =>
    repeat(20, (n) => {
      const body = JSON.stringify({ type: 'email', address: `stranger${n}@strangers.test` })
      return send(inWorkspace(attacker, n), '/api/v1/alerts/channels', 'POST', body)
    }),
  'migrates from servers that never answer, in sixty workspaces': async (attacker) => {
    const tarpit = await startTarpit()
    const [source, destination] = [side(tarpit.port), side(tarpit.port)]
    const body = JSON.stringify({ source, destination, folders: ['INBOX'], dryRun: true })
    for (let n = 0; n < attacker.workspaces.length; n++)
      await send(inWorkspace(attacker, n), '/api/v1/imap/migrate', 'POST', body)
    return { stop: () => tarpit.close() }
  },
  'guesses the password of the other, from 200 networks at once': ({ url }) =>
    repeat(100, async (n) => {
      const headers = { 'content-type': 'application/json', 'x-forwarded-for': `10.${n % 200}.0.1` }
      const body = JSON.stringify({ email: 'alice@people.test', password: `guess number ${n}` })
      const answer = await fetch(`${url}/api/auth/sign-in/email`, { method: 'POST', headers, body })
      await answer.arrayBuffer()
    }),
}

/** Starts an attack in a process of its own, and waits until it runs. */
export async function startAttack(what: string, attacker: Attacker): Promise<Stoppable> {
  const program = join(import.meta.dirname, 'attack-process.ts')
  const child = spawn(process.execPath, [program, JSON.stringify({ what, attacker })], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  await Promise.race([once(child.stdout, 'data'), ended])
  if (child.exitCode !== null)
    throw new Error(`the attack ended with ${child.exitCode} before it began`)
  return {
    async stop() {
      child.stdin.end()
      await ended
    },
  }
}

// A pass of a synchronized batch in which nothing is new, through the service: mailboxes a second.
// node bench/migration/standing.ts [mailboxes] [folders]
import { setTimeout as sleep } from 'node:timers/promises'
import { createAppender } from '../../src/net/imap/append/append.ts'
import { createFolder } from '../../src/net/imap/folders/create-folder.ts'
import { signIn } from '../../src/net/imap/connection/imap-session.ts'
import { startDovecot } from '../../test/servers/dovecot.ts'
import { startPortreeve, startStore } from '../webhooks/start.ts'
import { accountOn } from './ours.ts'

const ROUNDS = 3

/** Returns the printed table. */
export async function run(mailboxes = 200, folders = 10): Promise<string> {
  const [source, destination] = await Promise.all([startDovecot(), startDovecot()])
  const store = await startStore('enterprise')
  const portreeve = await startPortreeve(store, {
    ROLES: 'web,worker',
    ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
  })
  const users = Array.from({ length: mailboxes }, (_, index) => `user${index}`)
  async function call(method: string, path: string, body?: object) {
    const response = await fetch(`${portreeve.url}/api/v1/imap/batches${path}`, {
      method,
      headers: { authorization: `Bearer ${store.apiToken}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    const answer = (await response.json()) as { error?: string; data: unknown }
    if (!response.ok) throw new Error(answer.error)
    return answer.data as Batch & { batch: Batch }
  }
  try {
    for (const user of users) {
      await Promise.all([source.addUser(user, 'secret'), destination.addUser(user, 'secret')])
      await fillFolders(source.port, user, folders)
    }
    const side = (port: number) => ({ host: '127.0.0.1', port, secure: false })
    const { batch } = await call('POST', '', {
      name: 'bench',
      text: `user,password\n${users.map((user) => `${user},secret\n`).join('')}`,
      source: side(source.port),
      destination: side(destination.port),
      sync: { everyMinutes: 600 },
    })
    await call('POST', `/${batch.id}/start`, {})
    const isDone = async (since: number) => {
      const { counts, sync } = await call('GET', `/${batch.id}`)
      const next = Date.parse(sync?.nextPassAt ?? '')
      return counts['in_sync'] === mailboxes && next > since
    }
    const lines = ['| pass | s | mailboxes/s |', '| --- | --- | --- |']
    for (let round = 0; round <= ROUNDS; round++) {
      const began = Date.now()
      if (round > 0) await call('PUT', `/${batch.id}/sync`, { everyMinutes: 600 })
      while (!(await isDone(began + 60_000))) await sleep(50)
      const seconds = (Date.now() - began) / 1_000
      const name = round === 0 ? 'first copy' : `nothing new ${round}`
      lines.push(`| ${name} | ${seconds.toFixed(1)} | ${(mailboxes / seconds).toFixed(1)} |`)
    }
    return lines.join('\n')
  } finally {
    await portreeve.stop()
    await store.stop()
    await Promise.all([source.stop(), destination.stop()])
  }
}

type Batch = {
  id: string
  counts: Record<string, number>
  sync: { nextPassAt: string | null } | null
}

async function fillFolders(port: number, user: string, folders: number): Promise<void> {
  const { wire } = await signIn(accountOn(port, user))
  const body = Buffer.from('From: a@example.org\r\nSubject: one\r\n\r\nA message.\r\n')
  for (let index = 0; index < folders; index++) {
    const name = index === 0 ? 'INBOX' : `Folder ${index}`
    if (index > 0) await createFolder(wire, name)
    const appender = createAppender(wire, name, { permanentFlags: null })
    const letter = { size: body.length, body, flags: [], internalDate: null }
    await (
      await appender.submit([letter, letter])
    ).outcomes
  }
  await wire.logout()
}

if (import.meta.main) {
  const [mailboxes, folders] = process.argv.slice(2).map(Number)
  console.log(await run(mailboxes, folders))
}

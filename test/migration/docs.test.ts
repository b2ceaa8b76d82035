import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { startCyrus } from '../servers/cyrus.ts'
import { startDovecot } from '../servers/dovecot.ts'
import type { MailServer } from '../servers/mail-server.ts'
import { examplesIn, startShell } from '../shell.ts'
import { accountOn, contents, fill, read } from './mailbox.ts'
import { startMigrations, type MigrationTest } from './module.ts'

const ROOT = join(import.meta.dirname, '../..')
const EXAMPLES = examplesIn(readFileSync(join(ROOT, 'docs/migration.md'), 'utf8'))
const FOLDERS = ['INBOX', 'Sent', 'Archive/2024']

/** Replaces the host, and accepts the test certificate; otherwise the examples are unchanged. */
function at(example: string, portreeve: { url: string }, from: MailServer, to: MailServer): string {
  const told = (server: MailServer) =>
    `"host": "127.0.0.1", "port": ${server.tlsPort}, "tlsVerify": false`
  return example
    .replace('http://localhost:8080', portreeve.url)
    .replaceAll('"host": "imap.old.example"', told(from))
    .replaceAll('"host": "imap.new.example"', told(to))
    .replaceAll('imaps://alice@imap.old.example', `imap://alice@127.0.0.1:${from.port}`)
    .replaceAll('imaps://alice@new.example@imap.new.example', `imap://alice@127.0.0.1:${to.port}`)
    .replaceAll('alice@new.example', 'alice')
    .replaceAll('"password": "…"', '"password": "secret"')
    .replace(/^curl -sSN .*$/m, 'timeout --signal=INT 2 $& || true')
}

describe('docs/migration.md', () => {
  let portreeve: MigrationTest
  let fresh: FreshDatabase
  let from: MailServer
  let to: MailServer
  let folder: string

  beforeAll(async () => {
    ;[from, to, fresh] = await Promise.all([
      startDovecot(),
      startCyrus({ altNamespace: true, separator: '/' }),
      freshDatabase(),
    ])
    portreeve = await startMigrations(fresh.url)
    folder = mkdtempSync(join(tmpdir(), 'portreeve-docs-'))
  })
  afterAll(async () => {
    await portreeve.stop()
    await Promise.all([from.stop(), to.stop(), fresh.drop()])
    rmSync(folder, { recursive: true })
  })

  // The engine’s tests move mailboxes the other way.
  it('has examples that move a mailbox', { timeout: 90_000 }, async () => {
    const { token } = await portreeve.addPerson('Alice')
    await Promise.all([from.addUser('alice', 'secret'), to.addUser('alice', 'secret')])
    await fill(accountOn(from.port), {
      INBOX: [{}, { flags: ['\\Seen'] }],
      Sent: [{}],
      'Archive/2024': [{}, {}],
    })
    const shell = startShell(
      {
        PORTREEVE_TOKEN: token,
        DATA_DIR: folder,
        PORTREEVE_SOURCE_PASSWORD: 'secret',
        PORTREEVE_DESTINATION_PASSWORD: 'secret',
      },
      folder,
    )
    onTestFinished(() => shell.end())
    await shell.run(
      `portreeve() { '${process.execPath}' '${join(ROOT, 'bin/portreeve.js')}' "$@"; }`,
    )

    const [overHttp = '', atTerminal = ''] = EXAMPLES.map((example) =>
      at(example, portreeve, from, to),
    )
    const said = await shell.run(overHttp)
    expect(said.match(/"connected":true/g)).toHaveLength(2)
    expect(said).toContain('"totalMessages":5')
    expect(said).toMatch(/"status": "completed",\s+"totalMessages": 5,\s+"warnings": \[\]/)
    expect(said).toMatch(
      /"status": "completed",\s+"errorCount": 0,\s+"messagesDone": 5,\s+"errors": \[\]/,
    )
    expect(said).toMatch(/^event: migration$/m)

    await fill(accountOn(from.port), { Sent: [{}] })
    expect(await shell.run(atTerminal)).toMatch(/Verified:.* 6 of 6 messages/)
    const [here, there] = [await read(accountOn(from.port)), await read(accountOn(to.port))]
    for (const path of FOLDERS)
      expect(there[path]?.length).toBeGreaterThan(here[path]?.length ?? Infinity)
    for (const path of FOLDERS)
      expect(contents(there[path])).toEqual(expect.arrayContaining(contents(here[path])))
  })
})

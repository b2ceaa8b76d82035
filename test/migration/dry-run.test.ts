import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { report } from '../../src/cli/migrate/migrate-report.ts'
import { openFileJournal } from '../../src/migration/engine/journal/file-journal.ts'
import type { CopyFailure } from '../../src/migration/engine/journal/journal.ts'
import { startDovecot } from '../servers/dovecot.ts'
import type { MailServer } from '../servers/mail-server.ts'
import { accountOn, fill, read } from './mailbox.ts'
import { migrate } from './run.ts'
import { startTamper } from './tamper.ts'

describe('a dry run', () => {
  let server: MailServer
  const [here, there] = [{ user: 'alice' }, { user: 'bob' }]
  const at = (account: { user: string }, { port }: { port: number } = server) => ({
    ...account,
    port,
  })

  beforeAll(async () => {
    server = await startDovecot()
    for (const { user } of [here, there]) await server.addUser(user, 'secret')
    await fill(accountOn(server.port), { INBOX: [{}], Sent: [{}, {}], Hidden: [{}, {}, {}] })
  })
  afterAll(() => server.stop())

  it('reports a folder that is not there as copying would', async () => {
    const folders = ['Missing', 'INBOX', 'Sent']
    const dry = await migrate(at(here), at(there), { folders, dryRun: true })
    expect(dry).toMatchObject({
      state: 'failed',
      stopped: null,
      failures: [{ code: 'no_such_mailbox' }],
    })
    expect(dry.progress).toMatchObject({
      errorCount: 1,
      foldersTotal: 3,
      messagesTotal: 3,
      messagesDone: 0,
    })
    expect(Object.keys(await read(accountOn(server.port, there.user)))).toEqual(['INBOX'])
    // Dovecot adds how long it took.
    const untimed = (failures: CopyFailure[]) =>
      failures.map((each) => ({ ...each, message: each.message.replace(/ \(.*/, '') }))
    expect(untimed((await migrate(at(here), at(there), { folders })).failures)).toEqual(
      untimed(dry.failures),
    )
  })

  it('counts messages of folders that are not listed', async () => {
    const hiding = await startTamper(server.port, {
      toClient: (text, { instead }) => instead(text.replace(/^\* LIST .*Hidden\r\n/gm, '')),
    })
    const { state, progress } = await migrate(at(here, hiding), at(there), {
      folders: ['Hidden'],
      dryRun: true,
    })
    expect([state, progress.errorCount, progress.messagesTotal]).toEqual(['completed', 0, 3])
    const all = await migrate(at(here, hiding), at(there), { dryRun: true })
    expect(all.folders.map(({ source }) => source).toSorted()).toEqual(['INBOX', 'Sent'])
    await hiding.close()
  })

  it('shows at a terminal what would be copied and what could not', async () => {
    const log = vi.spyOn(console, 'log').mockReturnValue()
    onTestFinished(() => log.mockRestore())
    const dry = await migrate(at(here), at(there), {
      folders: ['Missing', 'INBOX', 'Sent'],
      dryRun: true,
    })
    expect(report({ ...dry, isDry: true, seconds: 1 }, false)).toBe(1)
    const lines = log.mock.calls.map(([line]) => stripVTControlCharacters(String(line)))
    expect(lines).toContainEqual(expect.stringMatching(/no_such_mailbox Missing: /))
    expect(lines.at(-1)).toMatch(
      /^1 cannot be copied\. Dry run: 3 messages in 2 folders, .* would be copied\.$/,
    )
  })

  it('leaves the state of the command unchanged', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'portreeve-dry-'))
    const path = join(folder, 'state.jsonl')
    const journal = openFileJournal(path, { isDry: true })
    await migrate(at(here), at(there), {
      folders: ['Missing'],
      dryRun: true,
      journal: { ...journal, failures: [] },
    })
    journal.close()
    expect([journal.failures.length, readFileSync(path, 'utf8')]).toEqual([1, ''])
    rmSync(folder, { recursive: true })
  })
})

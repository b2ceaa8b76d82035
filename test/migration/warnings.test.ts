import { describe, expect, it, onTestFinished } from 'vitest'
import { createMemoryJournal } from '../../src/migration/engine/journal/memory-journal.ts'
import { startCourier } from '../servers/courier.ts'
import { startDovecot } from '../servers/dovecot.ts'
import type { MailServer } from '../servers/mail-server.ts'
import { accountOn, contents, fill, inside, mail, read, type Letter } from './mailbox.ts'
import { migrate } from './run.ts'

async function serverWith(
  start: Promise<MailServer>,
  folders: Record<string, Letter[]> = {},
): Promise<MailServer> {
  const server = await start
  onTestFinished(() => server.stop())
  await server.addUser('alice', 'secret')
  await fill(accountOn(server.port), folders)
  return server
}

/** Some 200 kB. */
const letters = () => Array.from({ length: 10 }, () => ({ body: mail(20_000) }))
const codes = ({ progress }: { progress: { warnings: { code: string }[] } }) =>
  progress.warnings.map(({ code }) => code)

describe('warnings before a migration', () => {
  it('is that it will not fit, with both figures, in a dry run too', async () => {
    const here = await serverWith(startDovecot(), { INBOX: letters(), Sent: letters() })
    const there = await serverWith(startDovecot({ quota: '300K' }))
    const dry = await migrate(here, there, { dryRun: true })
    expect(dry).toMatchObject({ state: 'completed', progress: { messagesDone: 0, bytesDone: 0 } })
    expect(dry.progress.warnings).toEqual([
      {
        code: 'over_quota',
        folder: '',
        message: expect.stringMatching(/room for 307\.2 kB, .* 40\d\.\d kB to copy/),
      },
    ])
    expect(codes(await migrate(here, there, { dryRun: true, folders: ['INBOX'] }))).toEqual([])
  })

  it('are also requested from sources that report sizes one by one', async () => {
    const here = await serverWith(startCourier(), { INBOX: letters() })
    const there = await serverWith(startDovecot({ quota: '100K' }))
    const { progress } = await migrate(here, there, { dryRun: true })
    expect(progress.warnings).toMatchObject([{ code: 'over_quota' }])
    expect(progress.bytesTotal).toBeGreaterThan(200_000)
  })

  it('does not count messages of an earlier run twice', async () => {
    const here = await serverWith(startDovecot(), { INBOX: letters() })
    const there = await serverWith(startDovecot({ quota: '300K' }))
    const journal = createMemoryJournal()
    expect(codes(await migrate(here, there, { journal }))).toEqual([])
    const again = await migrate(here, there, { journal, withNewMail: true })
    expect([again.state, codes(again)]).toEqual(['completed', []])
    expect(codes(await migrate(here, there, { dryRun: true }))).toEqual(['over_quota'])
  })

  it('is that a Courier empties its Trash (31)', async () => {
    const here = await serverWith(startDovecot(), { INBOX: [{}], Trash: [{}, {}] })
    const there = await serverWith(startCourier())
    const { progress } = await migrate(here, there)
    expect(progress.warnings).toEqual([
      {
        code: 'trash_expires',
        folder: 'Trash',
        message: expect.stringMatching(/“INBOX\.Trash”.*IMAP_EMPTYTRASH/),
      },
    ])
    expect(codes(await migrate(here, there, { folders: ['INBOX'] }))).toEqual([])
  })

  it('shows the total and the copied bytes', async () => {
    const here = await serverWith(startDovecot(), { INBOX: letters(), Sent: letters() })
    const there = await serverWith(startDovecot())
    const bytes = Object.values(await read(accountOn(here.port)))
      .flat()
      .reduce((sum, { size }) => sum + size, 0)
    const { seen, progress } = await migrate(here, there)
    expect(seen[0]).toMatchObject({ bytesDone: 0, bytesTotal: bytes })
    expect(progress).toMatchObject({ bytesDone: bytes, bytesTotal: bytes, etaSeconds: 0 })
    expect(progress.folderProgress['Sent']).toMatchObject({
      bytes: progress.folderProgress['Sent']?.bytesTotal,
    })
    const again = await migrate(here, there, { deduplicate: true })
    expect(again.progress).toMatchObject({
      skippedByDedup: 20,
      bytesDone: bytes,
      bytesTotal: bytes,
    })
  })
})

describe('a full destination', () => {
  it('stops the migration at once, and it continues when there is space (36)', async () => {
    const here = await serverWith(startDovecot(), { INBOX: letters(), Sent: letters() })
    const there = await serverWith(startDovecot({ quota: '500K' }), {
      Old: [{ body: mail(250_000) }],
    })
    const journal = createMemoryJournal()
    const first = await migrate(here, there, { journal })
    expect(first.stopped).toMatchObject({ code: 'over_quota' })
    expect(first.failures).toMatchObject([{ folder: '', code: 'over_quota' }])
    await inside(accountOn(there.port), ({ wire }) => wire.run(['DELETE Old']))
    journal.failures.length = 0
    const second = await migrate(here, there, { journal })
    expect(second).toMatchObject({
      state: 'completed',
      failures: [],
      progress: { messagesDone: 20, errorCount: 0 },
    })
    const [x, y] = [await read(accountOn(here.port)), await read(accountOn(there.port))]
    for (const folder of ['INBOX', 'Sent']) expect(contents(y[folder])).toEqual(contents(x[folder]))
  })
})

import { afterEach, describe, expect, it } from 'vitest'
import { createMemoryJournal } from '../../src/migration/engine/journal/memory-journal.ts'
import { HONEST, newMessage, startImapModel, type ImapModel } from '../servers/imap-model.ts'
import { migrate } from './run.ts'

const started: ImapModel[] = []
afterEach(async () => {
  await Promise.all(started.splice(0).map((server) => server.close()))
})

/** An account with so many messages that is synchronized, and its copy. */
async function synchronized(count: number) {
  const messages = Array.from({ length: count }, (_, index) => newMessage(`mail ${index}`))
  const [source, destination] = [
    await startImapModel({ INBOX: messages }),
    await startImapModel({}),
  ]
  started.push(source, destination)
  const journal = createMemoryJournal()
  const pass = async (isLargeConfirmed = false) => {
    const sync = { deletions: 'apply' as const, isLargeConfirmed }
    const { state, sync: outcome, failures } = await migrate(source, destination, { journal, sync })
    expect([state, failures]).toEqual(['completed', []])
    return outcome
  }
  const inbox = ({ folders }: ImapModel) => folders.get('INBOX')?.messages ?? []
  /** Takes messages out of the source, and returns them. */
  function hide(from: number, to: number) {
    return inbox(source).splice(from, to - from)
  }
  function show(hidden: ReturnType<typeof hide>): void {
    inbox(source).push(...hidden)
    inbox(source).sort((a, b) => a.uid - b.uid)
  }
  await pass()
  expect(inbox(destination)).toHaveLength(count)
  return { source, pass, hide, show, copies: () => inbox(destination).length }
}

describe('deletions at the source', () => {
  it('are applied once two passes have found them', async () => {
    const { pass, hide, copies } = await synchronized(6)
    hide(1, 2)
    expect(await pass()).toMatchObject({ changes: { deleted: 1, applied: 0 }, held: [] })
    expect(copies()).toBe(6)
    expect(await pass()).toMatchObject({ changes: { deleted: 0, applied: 1 } })
    expect(copies()).toBe(5)
  })

  it('are forgotten when the message is listed again, also by a source without CONDSTORE', async () => {
    const { pass, hide, show, copies } = await synchronized(6)
    const hidden = hide(1, 3)
    expect(await pass()).toMatchObject({ changes: { deleted: 2, applied: 0 } })
    show(hidden)
    expect(await pass()).toMatchObject({ changes: { copied: 0, deleted: 0, applied: 0 } })
    expect(await pass()).toMatchObject({ changes: { copied: 0, deleted: 0, applied: 0 } })
    expect(copies()).toBe(6)
  })

  it('are undone by another copy when the message comes back after they were applied', async () => {
    const { pass, hide, show, copies } = await synchronized(6)
    const hidden = hide(1, 3)
    await pass()
    await pass()
    expect(copies()).toBe(4)
    show(hidden)
    expect(await pass()).toMatchObject({ changes: { copied: 2 } })
    expect(copies()).toBe(6)
    expect(await pass()).toMatchObject({ changes: { copied: 0, deleted: 0 } })
  })

  it('of more than half of a folder in one pass wait for a person', async () => {
    const { pass, hide, copies } = await synchronized(6)
    hide(0, 4)
    const held = [{ folder: 'INBOX', messages: 4 }]
    expect(await pass()).toMatchObject({ changes: { deleted: 4 }, held, isNewlyHeld: true })
    expect(await pass()).toMatchObject({ changes: { applied: 0 }, held, isNewlyHeld: false })
    expect(copies()).toBe(6)
    expect(await pass(true)).toMatchObject({ changes: { applied: 4 }, held: [] })
    expect(copies()).toBe(2)
  })

  it.each([
    ['SEARCH', { search: { omits: 2, adds: 0, times: 1_000 } }],
    ['EXISTS', { exists: 2 }],
  ])('are not seen in a listing that does not agree with %s', async (_, mischief) => {
    const { source, pass, hide, copies } = await synchronized(6)
    if ('exists' in mischief) hide(2, 3)
    source.behave({ ...HONEST, ...mischief })
    await pass().catch(() => undefined)
    await pass().catch(() => undefined)
    expect(copies()).toBe(6)
  })
})

import { describe, expect, it } from 'vitest'
import { IMAP_LIMITS } from '../../src/net/imap/limits.ts'
import { HONEST, startImapModel, type Mischief, type ModelMessage } from '../servers/imap-model.ts'
import { migrate } from './run.ts'

/** Clients without THREAD and SORT show a folder by sequence numbers, which APPEND assigns. */
describe('the order of a folder', () => {
  const LARGE = IMAP_LIMITS.streamAboveBytes + 1_000
  const sizes = [100, LARGE, 200, 300, LARGE, LARGE, 100, 400]

  const UNDESCRIBED = { omits: 1, addsOther: false, times: 1_000 }

  it.each<[string, Partial<Mischief>]>([
    ['described messages', {}],
    ['messages of unknown size', { fetch: UNDESCRIBED }],
    ['a source that returns the last one first', { isReversed: true }],
    ['both', { fetch: UNDESCRIBED, isReversed: true }],
  ])('is kept where streamed messages are between small ones: %s', async (_, mischief) => {
    const source = await startImapModel({ INBOX: sizes.map(messageOf) })
    const destination = await startImapModel({})
    try {
      source.behave({ ...HONEST, ...mischief })
      const { state } = await migrate(source, destination, { folders: ['INBOX'] })
      expect(state).toBe('completed')
      expect(subjectsOf(destination.folders.get('INBOX')?.messages ?? [])).toEqual(
        subjectsOf(source.folders.get('INBOX')?.messages ?? []),
      )
    } finally {
      await Promise.all([source.close(), destination.close()])
    }
  })
})

function messageOf(size: number, index: number): ModelMessage {
  const head = `Message-ID: <${index}@x.test>\r\nSubject: message ${index}\r\n\r\n`
  const body = `${head}${`${'x'.repeat(70)}\r\n`.repeat(Math.ceil(size / 72))}`
  return { body, flags: '', date: '01-Jul-2024 08:09:10 +0000' }
}

const subjectsOf = (messages: readonly ModelMessage[]) =>
  messages.map(({ body }) => /^Subject: (.*)\r$/m.exec(body)?.[1])

import { createMemoryJournal } from '../../src/migration/engine/journal/memory-journal.ts'
import { migrate } from '../migration/run.ts'
import { HONEST, startImapModel, type Mischief, type ModelMessage } from '../servers/imap-model.ts'
import { runCases } from './run-cases.ts'

/** Texts of messages in INBOX on both sides, and how the servers behave. */
type Input = {
  /** A number stands for so many messages. */
  source: string[] | number
  destination?: string[]
  /** `false` where the destination does not report UIDs (RFC 4315). */
  uidplus?: boolean
  here?: Partial<Mischief>
  there?: Partial<Mischief>
  options?: { deduplicate?: boolean }
  /** Runs with the same journal; servers are honest from the second one on. */
  runs?: number
}

runCases('migration.json', async (input: Input) => {
  const lines =
    typeof input.source === 'number'
      ? Array.from({ length: input.source }, (_, index) => `m${index}: text ${index}`)
      : input.source
  const source = await startImapModel({ INBOX: lines.map(messageOf) })
  const stored = (input.destination ?? []).map(messageOf)
  const destination = await startImapModel({ INBOX: stored }, { hasUidPlus: input.uidplus ?? true })
  try {
    source.behave({ ...HONEST, ...input.here })
    destination.behave({ ...HONEST, ...input.there })
    const journal = createMemoryJournal()
    const run = () => migrate(source, destination, { journal, withNewMail: true, ...input.options })
    let outcome = await run()
    for (let times = 1; times < (input.runs ?? 1); times++) {
      source.behave(HONEST)
      destination.behave(HONEST)
      outcome = await run()
    }
    const { state, progress, failures, notes } = outcome
    return {
      state,
      skipped: progress.skippedByDedup,
      failures: failures.map(({ uid, code }) => ({ uid, code })),
      notes: notes.map(({ uid, message }) => ({ uid, message })),
      count: destination.folders.get('INBOX')?.messages.length,
      stored: destination.folders.get('INBOX')?.messages.map(({ body }) => textOf(body)),
    }
  } finally {
    await Promise.all([source.close(), destination.close()])
  }
})

/** `ID: text`: the Message-ID, none where it is empty, and the text. */
function messageOf(line: string): ModelMessage {
  const [, id = '', text = ''] = /^(\w*): (.*)$/.exec(line) ?? []
  const field = id === '' ? '' : `Message-ID: <${id}@x.test>\r\n`
  return {
    body: `${field}From: a@x.test\r\nSubject: quota warning\r\n\r\n${text}\r\n`,
    flags: '\\Seen',
    date: '05-Jul-2024 08:09:10 +0000',
  }
}

function textOf(body: string): string {
  const id = /<(\w+)@/.exec(body)?.[1] ?? ''
  return `${id}: ${body.slice(body.indexOf('\r\n\r\n') + 4).trimEnd()}`
}

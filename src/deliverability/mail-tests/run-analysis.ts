import type { Kysely } from 'kysely'
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from '../../log.ts'
import { createSlots } from '../../net/slots.ts'
import { notifyChange } from '../../store/changes.ts'
import type { DB } from '../../store/tables.ts'
import { MAX_CONCURRENT_ANALYSES, SAVE_INTERVAL_MS } from '../limits.ts'
import { analyzeMail, MAIL_CHECKS } from './analysis/analyze-mail.ts'
import type { Finding } from './analysis/finding.ts'
import type { AnalysisDeps, TestMail } from './analysis/mail-facts.ts'
import type { FindBackground } from './background/find-background.ts'
import type { AskEngines } from './engines/ask-engines.ts'
import { findRaw, saveAnalysis, type AnalysisState, type MailRow } from './mail-tests.sql.ts'

export type AnalyzerDeps = AnalysisDeps & {
  db: Kysely<DB>
  log: Logger
  askEngines: AskEngines
  findBackground: FindBackground
}

export type Analyzer = {
  /** Analyzes a stored mail soon, in the background. */
  start(mail: MailRow): void
  /** Analyzes a stored mail. Its findings are stored as they become known. */
  run(mail: MailRow, signal: AbortSignal): Promise<void>
  /** Ends the analyses; another instance, or the next start, repeats them. */
  close(): Promise<void>
}

/** Runs the analyses of an instance, a few at a time: each holds a whole mail. */
export function createAnalyzer(deps: AnalyzerDeps): Analyzer {
  const { db, log } = deps
  const slots = createSlots(MAX_CONCURRENT_ANALYSES)
  const closing = new AbortController()
  const background = new Set<Promise<void>>()

  async function run(mail: MailRow, outer: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([outer, closing.signal])
    if (!(await slots.acquire([signal]))) return
    try {
      // A mail that waits costs no memory: it is read when its turn comes.
      const content = await findRaw(db, mail.id)
      if (content) await analyzeStored(mail, content, deps, signal)
      else await saveAnalysis(db, mail.id, mail, 'failed')
      await notifyChange(db, mail.workspaceId, 'checks', mail.testId)
    } finally {
      slots.release()
    }
  }

  return {
    run,
    start(mail) {
      const task = run(mail, closing.signal)
        .catch((error: unknown) =>
          log.error({ err: error, mail: mail.id }, 'a mail could not be analyzed'),
        )
        .finally(() => background.delete(task))
      background.add(task)
    },
    async close() {
      closing.abort()
      await Promise.all(background)
    },
  }
}

async function analyzeStored(
  mail: MailRow,
  content: Buffer,
  deps: AnalyzerDeps,
  signal: AbortSignal,
): Promise<void> {
  const { db, log, askEngines, findBackground } = deps
  const known = new Map<string, Finding>()
  const state: AnalysisState = { findings: [], engines: [], background: [] }
  const saver = createSaver(async () => {
    state.findings = MAIL_CHECKS.flatMap(({ id }) => known.get(id) ?? [])
    await saveAnalysis(db, mail.id, state)
    await notifyChange(db, mail.workspaceId, 'checks', mail.testId)
  })
  const [findings, engines, background] = await Promise.all([
    analyzeMail(testMailOf(mail, content), deps, {
      signal,
      onFinding(finding) {
        known.set(finding.id, finding)
        saver.wake()
      },
      onDefect: (check, error) => log.error({ err: error, check }, 'a check of a mail failed'),
    }),
    askEngines({ mail, content }, signal).then((results) => {
      state.engines = results
      saver.wake()
      return results
    }),
    findBackground({ mail, content }, signal).then((facts) => {
      state.background = facts
      saver.wake()
      return facts
    }),
  ])
  await saver.end()
  // An interrupted analysis is repeated: what it did not check says nothing.
  if (signal.aborted) return
  await saveAnalysis(db, mail.id, { findings, engines, background }, 'done')
}

/** Saves soon after a change, and once an interval while there are more. */
function createSaver(save: () => Promise<void>): { wake(): void; end(): Promise<void> } {
  const state = { isChanged: false, isEnded: false }
  let running: Promise<void> | null = null
  async function work(): Promise<void> {
    while (state.isChanged && !state.isEnded) {
      state.isChanged = false
      await save()
      await pause(SAVE_INTERVAL_MS)
    }
    running = null
  }
  return {
    wake() {
      state.isChanged = true
      // A little later, so that findings that arrive together are saved together.
      if (running) return
      running = pause(SAVE_INTERVAL_MS / 5).then(work)
      // Its failure is that of the analysis, which waits for it at the end.
      running.catch(() => {})
    },
    async end() {
      state.isEnded = true
      await running
    },
  }
}

function testMailOf(mail: MailRow, bytes: Buffer): TestMail {
  const { origin, ip, helo, mailFrom, rcptTo, connection, receivedAt } = mail
  return { origin, bytes, ip, helo, mailFrom, rcptTo, connection, receivedAt }
}

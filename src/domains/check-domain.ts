import { Fault, invalidField } from '../errors.ts'
import { onAbort } from '../net/abort.ts'
import { parseHost, type DomainName } from '../net/address.ts'
import { dnsFailureOf } from '../protocols/dns-queries.ts'
import { registeredDomain } from '../protocols/dmarc/public-suffix.ts'
import { createDomainContext, type DomainContext, type DomainDeps } from './domain-context.ts'
import { considerAliases } from './fixes/consider-aliases.ts'
import { composeFixes } from './fixes/compose-fixes.ts'
import type { Proposal } from './fixes/proposal.ts'
import { DOMAIN_DEADLINE_MS, MAX_DETAILS, MAX_EVIDENCE, WIND_DOWN_MS } from './limits.ts'
import type { Line, LineResult } from './lines/line.ts'
import { LINES } from './lines/lines.ts'
import {
  LINE_NAMES,
  LINES_BY_STAGE,
  STAGE_NAMES,
  type DomainFix,
  type DomainLine,
  type DomainReport,
  type LineName,
  type StageName,
} from './shapes.ts'
import { stagesOf, verdictOf } from './domain-verdict.ts'

type Options = {
  /** Called with each line as soon as it is known. */
  onLine?: (line: DomainLine) => void
  /** Called once, with the records to publish as soon as those found in the DNS alone are known. */
  onFixes?: (fixes: DomainFix[]) => void
  /** Milliseconds for the whole check; less in tests. */
  deadlineMs?: number
}

/**
 * Checks everything about a domain that decides whether its mail arrives, within ten seconds. A
 * line that is not ready by then is `unknown`.
 * @param stop aborts the check early, when its client has disconnected
 * @throws Fault `invalid_request`; `not_found` for a name that does not exist; `upstream_*` when no
 *   name server answers
 */
export async function checkDomain(
  text: string,
  deps: DomainDeps,
  stop: AbortSignal,
  { onLine, onFixes, deadlineMs = DOMAIN_DEADLINE_MS }: Options = {},
): Promise<DomainReport> {
  const started = performance.now()
  const name = parseDomain(text)
  const end = new AbortController()
  const patience = AbortSignal.timeout(deadlineMs - Math.min(WIND_DOWN_MS, deadlineMs / 4))
  const context = createDomainContext(name, deps, AbortSignal.any([patience, stop, end.signal]))
  await requireExistence(context)
  const deadline = createDeadline(deadlineMs - (performance.now() - started), stop)
  const fixes = createEarlyFixes(onFixes)
  try {
    const found = await Promise.all(
      LINES.map(async (line) => {
        const result = await Promise.race([checkLine(line, context), deadline.passed])
        const { details, proposals } = await considerAliases(result, context.queries)
        const shown = presentLine(line, { ...result, details })
        onLine?.(shown)
        fixes.add(line.name, proposals)
        return { line: shown, proposals }
      }),
    )
    return reportOf(name, context, found, performance.now() - started)
  } finally {
    deadline.cancel()
    end.abort()
  }
}

function reportOf(
  { name, unicode }: DomainName,
  context: DomainContext,
  found: { line: DomainLine; proposals: Proposal[] }[],
  ms: number,
): DomainReport {
  const rank = ({ name: lineName }: DomainLine) => LINE_NAMES.indexOf(lineName)
  const lines = found.map(({ line }) => line).toSorted((one, other) => rank(one) - rank(other))
  return {
    domain: name,
    unicodeDomain: unicode,
    registeredDomain: context.registeredDomain,
    verdict: verdictOf(unicode, lines),
    stages: stagesOf(lines),
    lines,
    fixes: fixesOf(found.flatMap(({ proposals }) => proposals)),
    checkedAt: context.now.toISOString(),
    durationMs: Math.round(ms),
  }
}

const fixesOf = (proposals: Proposal[]) => composeFixes(proposals).map(presentFix)

/** Lines that need the DNS alone. Each proposes records of names that no other line is about. */
const QUICK_LINES: readonly LineName[] = ['spf', 'dkim', 'dmarc', 'tls-rpt', 'reverse-dns']

/** Collects what the quick lines propose, until all of them are done. */
function createEarlyFixes(onFixes: Options['onFixes']) {
  const missing = new Set(QUICK_LINES)
  const proposals: Proposal[] = []
  return {
    add(line: LineName, proposed: Proposal[]): void {
      if (!missing.delete(line)) return
      proposals.push(...proposed)
      if (missing.size === 0) onFixes?.(fixesOf(proposals))
    },
  }
}

const NOT_FINISHED: LineResult = { state: 'unknown', summary: 'Not finished in time.' }

/** Resolves when the time is up, or when the client has disconnected. */
function createDeadline(ms: number, stop: AbortSignal) {
  const { promise, resolve } = Promise.withResolvers<LineResult>()
  const timer = setTimeout(() => resolve(NOT_FINISHED), ms)
  const leave = onAbort([stop], () => resolve(NOT_FINISHED))
  if (stop.aborted) resolve(NOT_FINISHED)
  return {
    passed: promise,
    cancel() {
      clearTimeout(timer)
      leave()
    },
  }
}

/** One line that fails must not take the others with it, and must not look good. */
async function checkLine(line: Line, context: DomainContext): Promise<LineResult> {
  try {
    return await line.check(context)
  } catch (error) {
    if (error instanceof Fault) return { state: 'unknown', summary: error.message }
    if (context.signal.aborted) return NOT_FINISHED
    context.deps.log.error({ err: error, line: line.name }, 'a line of a domain check failed')
    return { state: 'unknown', summary: 'The check of this part failed. The log has the details.' }
  }
}

function presentLine({ name, title }: Line, result: LineResult): DomainLine {
  const { state, isUsed = true, summary, details = [], evidence = [] } = result
  return {
    name,
    title,
    stage: stageOf(name),
    state,
    isUsed,
    summary: clean(summary),
    details: limited(details.map(clean), MAX_DETAILS, (more) => `${more} more remarks.`),
    evidence: evidence
      .slice(0, MAX_EVIDENCE)
      .map((one) => ({ ...one, label: clean(one.label), value: clean(one.value) })),
  }
}

/** A record to publish is never shortened, or it could not be published. */
function presentFix(fix: DomainFix): DomainFix {
  return {
    ...fix,
    published: fix.published.map(storable),
    value: storable(fix.value),
    changes: fix.changes.map(({ removed, added, reason }) => ({
      removed: removed && clean(removed),
      added: added && clean(added),
      reason: clean(reason),
    })),
  }
}

function stageOf(line: LineName): StageName {
  const stage = STAGE_NAMES.find((name) =>
    (LINES_BY_STAGE[name] as readonly LineName[]).includes(line),
  )
  return stage ?? 'sender'
}

function limited(items: string[], max: number, more: (count: number) => string): string[] {
  return items.length <= max ? items : [...items.slice(0, max - 1), more(items.length - max + 1)]
}

/** Characters of one text; records from outside may have megabytes. */
const MAX_TEXT_CHARACTERS = 2_000

function clean(text: string): string {
  const short = text.length > MAX_TEXT_CHARACTERS ? `${text.slice(0, MAX_TEXT_CHARACTERS)}…` : text
  return storable(short)
}

/** PostgreSQL stores neither NUL nor half of a surrogate pair. */
function storable(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed()
}

/**
 * Reads a domain as people type it.
 * @throws Fault `invalid_request`
 */
export function parseDomain(text: string): DomainName {
  const host = parseHost(text, 'domain')
  const message =
    host.kind === 'ip'
      ? 'is an IP address; enter a domain'
      : registeredDomain(host.name) === null
        ? 'is a public suffix; enter a domain below it'
        : null
  if (host.kind === 'name' && message === null) return host
  throw invalidField('domain', message ?? '', `“${text.slice(0, 80)}”`)
}

/** @throws Fault `not_found`, `upstream_*` */
async function requireExistence(context: DomainContext): Promise<void> {
  const { name, unicode, queries, deps, signal } = context
  const [own, soa] = await Promise.all([context.own(), queries.query(name, 'SOA')])
  if (!own.exists && soa.status !== 'NOERROR')
    throw new Fault('not_found', `${unicode} does not exist in the DNS (NXDOMAIN).`)
  const failure = dnsFailureOf(soa)
  if (own.error === null || failure === null) return
  // Records that fail DNSSEC validation are a finding, not a failure.
  const unchecked = await deps.resolver.query(name, 'SOA', signal, { checkingDisabled: true })
  if (unchecked.status !== 'FAILED') return
  if (own.error === 'TIMEOUT')
    throw new Fault(
      'upstream_timeout',
      `No name server answered for ${name} in time. Try again later.`,
    )
  throw new Fault('upstream_unreachable', `No name server answered for ${name}: ${own.error}.`)
}

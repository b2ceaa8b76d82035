// `npm run audit`: known vulnerabilities of shipped packages. Fails for a high or critical one, and
// when the registry is unreachable; with --if-reachable the latter is only reported, so that a
// machine without the registry can run all other checks.
import { spawnSync } from 'node:child_process'
import { ROOT } from './run.ts'

type Advisory = { title: string; url: string; severity: string }
type Finding = { name: string; severity: string; range: string; via: (Advisory | string)[] }

/** The output of `npm audit --json`: findings, or an error. */
export type Report = {
  vulnerabilities?: Record<string, Finding>
  message?: string
  error?: { summary?: string }
}

const GRAVE = new Set(['high', 'critical'])

/**
 * Returns a line for each finding, and whether one of them requires action; null when the registry
 * was unreachable.
 */
export function judge({ vulnerabilities }: Report): { lines: string[]; isGrave: boolean } | null {
  if (vulnerabilities === undefined) return null
  const findings = Object.values(vulnerabilities)
  const lines = findings.map(({ name, severity, range, via }) => {
    const because = via
      .map((cause) => (typeof cause === 'string' ? cause : `${cause.title} ${cause.url}`))
      .join('; ')
    return `${severity}: ${name} ${range}: ${because}`
  })
  return { lines, isGrave: findings.some(({ severity }) => GRAVE.has(severity)) }
}

if (import.meta.main) process.exitCode = audit(process.argv.includes('--if-reachable'))

function audit(isOptional: boolean): number {
  const report = ask()
  const judged = judge(report)
  if (judged === null) {
    const reason = report.message ?? report.error?.summary ?? 'no answer'
    console.error(
      `Advisories: NOT CHECKED, the registry could not be asked (${reason.split('\n')[0]}).`,
    )
    return isOptional ? 0 : 2
  }
  for (const line of judged.lines) console.error(line)
  console.log(`Advisories: ${judged.lines.length} known for what is shipped.`)
  return judged.isGrave ? 1 : 0
}

function ask(): Report {
  const args = ['audit', '--omit=dev', '--json', '--fetch-retries=1', '--fetch-timeout=20000']
  const { stdout } = spawnSync('npm', args, {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  try {
    return JSON.parse(stdout) as Report
  } catch {
    return { message: 'npm audit said nothing' }
  }
}

import { Icon } from '../ui/brand/icons.tsx'
import type { Tone } from '../ui/feedback/status.tsx'
import { Muted } from '../ui/layout/page.tsx'
import type { MailFinding } from './api.ts'
import classes from './finding-list.module.css'
import { mailTest as messages, severityNames, stateNames } from './messages.ts'

const SEVERITY_TONES: Record<MailFinding['severity'], Tone> = {
  blocks: 'bad',
  hurts: 'warn',
  note: 'info',
}

/** Findings, one below the other, each with its rule and what to do. */
export function FindingList({ findings }: { findings: MailFinding[] }) {
  return (
    <ul className={classes.findings} data-rows>
      {findings.map((finding) => (
        <Finding key={finding.id} finding={finding} />
      ))}
    </ul>
  )
}

function toneOf({ state, severity }: MailFinding): Tone {
  if (state === 'failed') return SEVERITY_TONES[severity]
  return state === 'passed' ? 'good' : 'unknown'
}

function Finding({ finding }: { finding: MailFinding }) {
  const { state, severity, title, evidence, fix, rule, source } = finding
  const tone = toneOf(finding)
  return (
    <li className={classes.finding} data-tone={tone}>
      <span className={classes.icon}>
        <Icon name={tone} size={18} />
      </span>
      <div className={classes.words}>
        <p>
          <strong>{title}</strong>{' '}
          <Muted>{state === 'failed' ? severityNames[severity] : stateNames[state]}</Muted>
        </p>
        <p>{evidence}</p>
        {fix !== null && (
          <p>
            <strong>{messages.fix}</strong> {fix}
          </p>
        )}
        <p>
          <Muted>
            {messages.expected} {rule} {messages.source} {source}.
          </Muted>
        </p>
      </div>
    </li>
  )
}

/** The lines of an SMTP session. */
export function Session({ lines }: { lines: string[] }) {
  return <pre className={classes.session}>{lines.join('\n')}</pre>
}

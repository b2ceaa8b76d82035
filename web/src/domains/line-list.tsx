import { memo } from 'react'
import { ButtonLink } from '../ui/actions/button.tsx'
import { Icon } from '../ui/brand/icons.tsx'
import { Disclosure } from '../ui/layout/disclosure.tsx'
import { Muted } from '../ui/layout/page.tsx'
import { PrintOnly } from '../ui/layout/print-only.tsx'
import { BulletList } from '../ui/lists/bullet-list.tsx'
import { VisuallyHidden } from '../ui/text/visually-hidden.tsx'
import type { DomainLine } from './api.ts'
import classes from './line-list.module.css'
import { lines as messages, links, stageTitles, stateNames } from './messages.ts'
import type { PrintedLine, PrintPlan } from './print-plan.ts'
import { STAGES, type StageName } from './stages.ts'
import { LINE_TONES } from './tones.ts'

type LineListProps = {
  lines: DomainLine[]
  /** Without it, everything is printed. */
  plan?: PrintPlan | null
  /** Whether the lines lead to screens that need an account. */
  isOwn?: boolean
}

/** Every line of a check, below its stage, as soon as it is known. */
export function LineList({ lines, plan, isOwn = false }: LineListProps) {
  return (
    <div className={classes.stages}>
      {STAGES.map((name) => (
        <StageLines
          key={name}
          name={name}
          lines={lines.filter(({ stage }) => stage === name)}
          plan={plan}
          isOwn={isOwn}
        />
      ))}
    </div>
  )
}

function StageLines({ name, lines, plan, isOwn = false }: LineListProps & { name: StageName }) {
  return (
    <section className={classes.stage} id={`stage-${name}`} aria-label={stageTitles[name]}>
      <h3>{stageTitles[name]}</h3>
      <ul className={classes.lines}>
        {lines.map((line) => (
          <Line key={line.name} line={line} printed={plan?.lines.get(line.name)} isOwn={isOwn} />
        ))}
      </ul>
    </section>
  )
}

type LineProps = { line: DomainLine; printed: PrintedLine | undefined; isOwn: boolean }

/** Rendered again only when it changes: the lines of a running check come one after another. */
const Line = memo(function Line({ line, printed, isOwn }: LineProps) {
  const { name, title, state, isUsed, summary, details, evidence } = line
  const { details: shownDetails, evidence: shownEvidence } = printed ?? {
    details: details.length,
    evidence: evidence.length,
  }
  const unprinted = details.length - shownDetails + evidence.length - shownEvidence
  const hasMore = details.length > 0 || evidence.length > 0
  return (
    <li
      id={`line-${name}`}
      className={classes.line}
      data-tone={isUsed ? LINE_TONES[state] : 'unused'}
    >
      <span className={classes.icon}>
        <Icon name={isUsed ? LINE_TONES[state] : 'unused'} size={18} />
        <VisuallyHidden>{isUsed ? stateNames[state] : messages.notUsed}</VisuallyHidden>
      </span>
      <div className={classes.words}>
        <p>
          <strong>{title}</strong> <span>{summary}</span>
        </p>
        {isOwn && name === 'blocklists' && <DelistingLinks evidence={evidence} />}
        {hasMore && (
          <Disclosure summary={messages.details}>
            {details.length > 0 && (
              <BulletList>
                {details.map((detail, index) => (
                  <li key={detail} data-unprinted={index >= shownDetails || undefined}>
                    {detail}
                  </li>
                ))}
              </BulletList>
            )}
            {evidence.length > 0 && <EvidenceList evidence={evidence} printed={shownEvidence} />}
            {unprinted > 0 && <PrintOnly>{messages.notPrinted(unprinted)}</PrintOnly>}
          </Disclosure>
        )}
      </div>
    </li>
  )
})

/** Addresses that a blocklist lists lead to their delisting. */
function DelistingLinks({ evidence }: Pick<DomainLine, 'evidence'>) {
  const listed = evidence.filter(({ state }) => state === 'bad' || state === 'warning')
  if (listed.length === 0) return null
  return (
    <div data-unprinted>
      {listed.map(({ label }) => (
        <ButtonLink
          key={label}
          size="small"
          kind="quiet"
          to="/delisting/new"
          search={{ ip: label }}
        >
          {links.delist(label)}
        </ButtonLink>
      ))}
    </div>
  )
}

type EvidenceProps = Pick<DomainLine, 'evidence'> & { printed: number }

function EvidenceList({ evidence, printed }: EvidenceProps) {
  return (
    <dl className={classes.evidence}>
      {evidence.map(({ label, value, state }, index) => (
        <div
          key={index}
          data-tone={LINE_TONES[state]}
          data-unprinted={index >= printed || undefined}
        >
          <dt>
            <Icon name={LINE_TONES[state]} size={14} />
            <VisuallyHidden>{stateNames[state]}</VisuallyHidden>
            <Muted>{label}</Muted>
          </dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

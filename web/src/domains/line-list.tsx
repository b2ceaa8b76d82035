import { Icon } from '../ui/brand/icons.tsx'
import { Disclosure } from '../ui/layout/disclosure.tsx'
import { Muted } from '../ui/layout/page.tsx'
import { PrintOnly } from '../ui/layout/print-only.tsx'
import { BulletList } from '../ui/lists/bullet-list.tsx'
import { VisuallyHidden } from '../ui/text/visually-hidden.tsx'
import type { DomainLine } from './api.ts'
import classes from './line-list.module.css'
import { lines as messages, stageTitles, stateNames } from './messages.ts'
import { STAGES, type StageName } from './stages.ts'
import { LINE_TONES } from './tones.ts'

/** Results of a line that are printed, as the style sheet has it. */
const PRINTED = 4

/** Every line of a check, below its stage, as soon as it is known. */
export function LineList({ lines }: { lines: DomainLine[] }) {
  return (
    <div className={classes.stages}>
      {STAGES.map((name) => (
        <StageLines key={name} name={name} lines={lines.filter(({ stage }) => stage === name)} />
      ))}
    </div>
  )
}

function StageLines({ name, lines }: { name: StageName; lines: DomainLine[] }) {
  return (
    <section className={classes.stage} id={`stage-${name}`} aria-label={stageTitles[name]}>
      <h3>{stageTitles[name]}</h3>
      <ul className={classes.lines}>
        {lines.map((line) => (
          <Line key={line.name} {...line} />
        ))}
      </ul>
    </section>
  )
}

function Line({ title, state, isUsed, summary, details, evidence }: DomainLine) {
  const hasMore = details.length > 0 || evidence.length > 0
  return (
    <li className={classes.line} data-tone={isUsed ? LINE_TONES[state] : 'unused'}>
      <span className={classes.icon}>
        <Icon name={isUsed ? LINE_TONES[state] : 'unused'} size={18} />
        <VisuallyHidden>{isUsed ? stateNames[state] : messages.notUsed}</VisuallyHidden>
      </span>
      <div className={classes.words}>
        <p>
          <strong>{title}</strong> <span>{summary}</span>
        </p>
        {hasMore && (
          <Disclosure summary={messages.details}>
            {details.length > 0 && (
              <BulletList>
                {details.map((detail) => (
                  <li key={detail}>{detail}</li>
                ))}
              </BulletList>
            )}
            {evidence.length > 0 && <EvidenceList evidence={evidence} />}
            {evidence.length > PRINTED && (
              <PrintOnly>{messages.notPrinted(evidence.length - PRINTED)}</PrintOnly>
            )}
          </Disclosure>
        )}
      </div>
    </li>
  )
}

function EvidenceList({ evidence }: Pick<DomainLine, 'evidence'>) {
  return (
    <dl className={classes.evidence}>
      {evidence.map(({ label, value, state }, index) => (
        <div key={index} data-tone={LINE_TONES[state]}>
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

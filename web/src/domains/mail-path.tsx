import { Icon } from '../ui/brand/icons.tsx'
import { VisuallyHidden } from '../ui/text/visually-hidden.tsx'
import type { DomainCheck, LineState } from './api.ts'
import classes from './mail-path.module.css'
import { path as messages, shortStageTitles, stageTitles, stateNames } from './messages.ts'
import { LINES_PER_STAGE, STAGES, type StageName } from './stages.ts'
import { LINE_TONES } from './tones.ts'

/** The way of a message through the domain, stage by stage, each in the state of its worst line. */
export function MailPath({ check }: { check: DomainCheck }) {
  return (
    <ol className={classes.path} aria-label={messages.title}>
      {STAGES.map((name) => (
        <Stage key={name} name={name} state={stageState(check, name)} />
      ))}
    </ol>
  )
}

/** Null while lines of the stage are missing. */
function stageState({ report, lines }: DomainCheck, name: StageName): LineState | null {
  const final = report?.stages.find((stage) => stage.name === name)
  if (final) return final.state
  const known = lines.filter((line) => line.stage === name)
  if (known.some(({ state }) => state === 'bad')) return 'bad'
  return known.length < LINES_PER_STAGE[name] ? null : 'good'
}

function Stage({ name, state }: { name: StageName; state: LineState | null }) {
  return (
    <li className={classes.stage} data-tone={state === null ? 'waiting' : LINE_TONES[state]}>
      <a href={`#stage-${name}`}>
        <span className={classes.icon}>
          {state === null ? (
            <span className={classes.dots} />
          ) : (
            <Icon name={LINE_TONES[state]} size={20} />
          )}
        </span>
        <strong className={classes.title}>{stageTitles[name]}</strong>
        <strong className={classes.shortTitle}>{shortStageTitles[name]}</strong>
        <span className={classes.state}>
          <VisuallyHidden>: </VisuallyHidden>
          {state === null ? messages.waiting : stateNames[state]}
        </span>
      </a>
    </li>
  )
}

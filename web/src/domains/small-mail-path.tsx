import { Icon } from '../ui/brand/icons.tsx'
import { VisuallyHidden } from '../ui/text/visually-hidden.tsx'
import type { DomainSummary, LineState } from './api.ts'
import { path, shortStageTitles, stageTitles, stateNames } from './messages.ts'
import classes from './small-mail-path.module.css'
import { STAGES, type StageName } from './stages.ts'
import { LINE_TONES } from './tones.ts'

/** The mail path of a domain as five marks, as its last whole check found it. */
export function SmallMailPath({ stages }: Pick<DomainSummary, 'stages'>) {
  return (
    <ol className={classes.path} aria-label={path.title}>
      {STAGES.map((name) => (
        <Stage key={name} name={name} state={stateOf(stages, name)} />
      ))}
    </ol>
  )
}

function stateOf(stages: DomainSummary['stages'], name: StageName): LineState {
  return stages?.find((stage) => stage.name === name)?.state ?? 'unknown'
}

function Stage({ name, state }: { name: StageName; state: LineState }) {
  const tone = LINE_TONES[state]
  return (
    <li data-tone={tone} title={path.summary(stageTitles[name], stateNames[state])}>
      <Icon name={tone} size={18} />
      <span>{shortStageTitles[name]}</span>
      <VisuallyHidden>: {stateNames[state]}</VisuallyHidden>
    </li>
  )
}

import { ButtonLink } from '../ui/actions/button.tsx'
import { Icon } from '../ui/brand/icons.tsx'
import { Disclosure } from '../ui/layout/disclosure.tsx'
import { countProblems, type Problem } from './problems.ts'
import classes from './problem-list.module.css'
import { MAX_PROBLEMS } from './limits.ts'
import { overview as messages } from './messages.ts'

/** The problems, each with a button that leads to its screen; all but the first few are closed. */
export function ProblemList({ problems }: { problems: Problem[] }) {
  const more = problems.slice(MAX_PROBLEMS)
  return (
    <div className={classes.problems}>
      <Problems problems={problems.slice(0, MAX_PROBLEMS)} />
      {more.length > 0 && (
        <Disclosure summary={messages.moreProblems(countProblems(more))}>
          <Problems problems={more} />
        </Disclosure>
      )}
    </div>
  )
}

function Problems({ problems }: { problems: Problem[] }) {
  return (
    <ul className={classes.list} data-rows>
      {problems.map(({ key, tone, sentence, action, link }) => (
        <li key={key} data-tone={tone}>
          <Icon name={tone} />
          <span>{sentence}</span>
          <ButtonLink {...link} size="small">
            {action}
          </ButtonLink>
        </li>
      ))}
    </ul>
  )
}

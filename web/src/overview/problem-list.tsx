import { ButtonLink } from '../ui/actions/button.tsx'
import { Icon } from '../ui/brand/icons.tsx'
import { Disclosure } from '../ui/layout/disclosure.tsx'
import type { Problem } from './problems.ts'
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
        <Disclosure summary={messages.moreProblems(countOf(more))}>
          <Problems problems={more} />
        </Disclosure>
      )}
    </div>
  )
}

/** With those that one of them stands for. */
const countOf = (problems: Problem[]) => problems.reduce((sum, { count = 1 }) => sum + count, 0)

/** The screen of a path of the dashboard, which may have a query. */
function linkTo(path: string): { to: string; search: Record<string, string> } {
  const [to = '', query] = path.split('?')
  return { to, search: Object.fromEntries(new URLSearchParams(query)) }
}

function Problems({ problems }: { problems: Problem[] }) {
  return (
    <ul className={classes.list} data-rows>
      {problems.map(({ key, tone, sentence, action, path }) => (
        <li key={key} data-tone={tone}>
          <Icon name={tone} />
          <span>{sentence}</span>
          <ButtonLink {...linkTo(path)} size="small">
            {action}
          </ButtonLink>
        </li>
      ))}
    </ul>
  )
}

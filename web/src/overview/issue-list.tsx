import { ButtonLink } from '../ui/actions/button.tsx'
import { Icon } from '../ui/brand/icons.tsx'
import { Disclosure } from '../ui/layout/disclosure.tsx'
import { countIssues, type Issue } from './issues.ts'
import classes from './issue-list.module.css'
import { MAX_ISSUES } from './limits.ts'
import { overview as messages } from './messages.ts'

/** The issues, each with a button that leads to its screen; all but the first few are closed. */
export function IssueList({ issues }: { issues: Issue[] }) {
  const more = issues.slice(MAX_ISSUES)
  return (
    <div className={classes.issues}>
      <Issues issues={issues.slice(0, MAX_ISSUES)} />
      {more.length > 0 && (
        <Disclosure summary={messages.moreIssues(countIssues(more))}>
          <Issues issues={more} />
        </Disclosure>
      )}
    </div>
  )
}

function Issues({ issues }: { issues: Issue[] }) {
  return (
    <ul className={classes.list} data-rows>
      {issues.map(({ key, tone, sentence, action, link }) => (
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

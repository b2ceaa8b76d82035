import { ButtonLink } from '../ui/actions/button.tsx'
import { Icon } from '../ui/brand/icons.tsx'
import type { Issue } from './issues.ts'
import classes from './issue-list.module.css'

/** The issues, each with a button that leads to its screen. */
export function IssueList({ issues }: { issues: Issue[] }) {
  return (
    <ul className={classes.needs} data-rows>
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

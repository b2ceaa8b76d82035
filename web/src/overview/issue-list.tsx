import { ButtonLink } from '../ui/actions/button.tsx'
import { Icon } from '../ui/brand/icons.tsx'
import type { Issue } from './issues.ts'
import classes from './issue-list.module.css'

/** Each with its way on. */
export function IssueList({ needs }: { needs: Issue[] }) {
  return (
    <ul className={classes.needs} data-rows>
      {needs.map(({ key, tone, sentence, action, link }) => (
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

import { useQuery } from '@tanstack/react-query'
import { accountQuery } from '../queries.ts'
import { WorkspaceSwitcher } from '../workspaces/workspace-switcher.tsx'
import classes from './current-account.module.css'

/**
 * The account in use, in the head of the sidebar and at the top of the phone’s sheet. A control
 * that switches what the dashboard shows, such as the workspace, belongs here and nowhere else.
 */
export function CurrentAccount() {
  const { data: account } = useQuery(accountQuery)
  if (!account) return null
  return (
    <div className={classes.head}>
      <p className={classes.account} title={account.email}>
        {account.name && <strong>{account.name}</strong>}
        <span>{account.email}</span>
      </p>
      <WorkspaceSwitcher />
    </div>
  )
}

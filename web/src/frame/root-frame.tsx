import { Outlet, useMatches } from '@tanstack/react-router'
import { ToastList } from '../ui/feedback/toast-list.tsx'
import { useSwitches } from '../workspace-choice.ts'
import { AccountFrame } from './account-frame.tsx'
import { ConnectionBanner } from './connection-banner.tsx'

/** The id of the route above all screens that need a session. */
export const OWN = 'own'

/**
 * Around every screen: messages that belong to the whole tab. The frame of an account is here, and
 * not in its route, so that menus stay open when the account becomes known. It starts anew with
 * every switch to another workspace or account.
 */
export function RootFrame() {
  const isOwn = useMatches({
    select: (matches) => matches.some(({ routeId }) => routeId === `/${OWN}`),
  })
  const switches = useSwitches()
  return (
    <>
      {isOwn ? (
        <AccountFrame key={switches}>
          <Outlet />
        </AccountFrame>
      ) : (
        <Outlet />
      )}
      <ConnectionBanner />
      <ToastList />
    </>
  )
}

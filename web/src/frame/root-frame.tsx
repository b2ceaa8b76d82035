import { Outlet, useMatches } from '@tanstack/react-router'
import { useDeferredValue } from 'react'
import { inService } from '../base-path.ts'
import { ToastList } from '../ui/feedback/toast-list.tsx'
import { AccountFrame } from './account-frame.tsx'
import { ConnectionBanner } from './connection-banner.tsx'
import { DemoBanner } from './demo-banner.tsx'
import { frame } from './messages.ts'

/** The id of the route above all screens that need a session. */
export const OWN = 'own'

/**
 * Around every screen: messages that belong to the whole tab. The frame of an account is here, and
 * not in its route, so that menus stay open when the account becomes known.
 */
export function RootFrame() {
  const isOwn = useMatches({
    select: (matches) => matches.some(({ routeId }) => routeId === `/${OWN}`),
  })
  // The frame is rendered in short steps, between which the browser responds.
  const isStarted = useDeferredValue(true, false)
  if (!isStarted)
    return (
      <>
        <DemoBanner />
        <Starting />
      </>
    )
  return (
    <>
      <DemoBanner />
      {isOwn ? (
        <AccountFrame>
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

/** What index.html shows while the scripts load. */
function Starting() {
  return (
    <p className="boot">
      <img src={inService('/favicon.svg')} width={28} height={28} alt="" /> {frame.name}
    </p>
  )
}

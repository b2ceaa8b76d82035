import { Outlet } from '@tanstack/react-router'
import { ConnectionBanner } from './connection-banner.tsx'

/** Around every screen: messages that belong to the whole tab. */
export function RootFrame() {
  return (
    <>
      <Outlet />
      <ConnectionBanner />
    </>
  )
}

/** Where the routes of fleet lists are. */
export const FLEET_PATH = '/api/v1/abuse/fleet'

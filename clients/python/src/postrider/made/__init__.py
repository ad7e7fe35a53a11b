# Made from the contract by `npm run gen`.

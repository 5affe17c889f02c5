turn:
  %turn.number = phi i32 NUMBERS
  %turn.at = load i32, ptr addrspace(5) %turn.place
  %turn.stays = load i1, ptr addrspace(5) %turn.waits
  %turn.mine = icmp eq i32 %turn.warp, %turn.number
  %turn.lives = icmp ne i32 %turn.at, -1
  %turn.goes = and i1 %turn.mine, %turn.lives
  %turn.does = select i1 %turn.stays, i1 false, i1 %turn.goes
  br i1 %turn.does, label %turn.own, label %turn.next
turn.own:
  switch i32 %turn.at, label %turn.nowhere [ CASES ]
turn.nowhere:
  unreachable
turn.next:
  %turn.first = icmp eq i32 %turn.number, 0
  %turn.second = call i32 asm sideeffect "s_mov_b32 $0, 1", "=s"()
  br i1 %turn.first, label %turn, label %turn.round
turn.round:
  %turn.then = load i32, ptr addrspace(5) %turn.place
  %turn.rests = load i1, ptr addrspace(5) %turn.waits
  %turn.left = icmp ne i32 %turn.then, -1
  %turn.runs = select i1 %turn.rests, i1 false, i1 %turn.left
  %turn.running = call i64 @llvm.amdgcn.ballot.i64(i1 %turn.runs)
  %turn.busy = icmp ne i64 %turn.running, 0
  br i1 %turn.busy, label %turn, label %turn.idle
turn.idle:
  %turn.living = call i64 @llvm.amdgcn.ballot.i64(i1 %turn.left)
  %turn.any = icmp ne i64 %turn.living, 0
  br i1 %turn.any, label %turn.meet, label %turn.over
turn.meet:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.waitcnt(i32 LDS_WAIT)
  call void @llvm.amdgcn.s.barrier()
  fence syncscope("workgroup") acquire
  store i1 false, ptr addrspace(5) %turn.waits
  br label %turn
turn.over:
  ret void
